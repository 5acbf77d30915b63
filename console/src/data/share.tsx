// Bar that shows a number as a part of a whole, as decoration beside the number.
import style from './data.module.css';

/** Decoration of a number that stands beside it. */
export const Share = ({ share }: { readonly share: number }) => (
  <span className={style.track} aria-hidden="true">
    <span className={style.fill} style={{ inlineSize: `${Math.min(1, Math.max(0, share)) * 100}%` }} />
  </span>
);
