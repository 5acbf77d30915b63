// Error state of an answer: problems of the query text, or a failed request with its cause and a
// retry.
import { useEffect, useState } from 'react';
import type { RequestFailed } from '../api/request.js';
import { texts } from '../texts.js';
import style from './state.module.css';

interface Props {
  readonly failure: RequestFailed;
  readonly retry: () => void;
  /** The problems of the text stand below the text. */
  readonly isShownAbove?: boolean;
  /** What failed, when it is no query. */
  readonly title?: string;
}

export function FailedAnswer({ failure, retry, isShownAbove = false, title = texts.answer.failed }: Props) {
  const wait = useCountdown(failure);
  const isWrong = failure.details.length > 0;
  return (
    <div role="alert" className={style.failed}>
      <p className={style.title}>{!isWrong ? title : isShownAbove ? texts.answer.wrong : texts.ask.problems}</p>
      {isWrong && isShownAbove ? null : isWrong ? (
        <ul className={style.problems}>
          {failure.details.map(({ message, hint, line, column }) => (
            <li key={`${line} ${column} ${message}`}>
              {message}; {hint}
            </li>
          ))}
        </ul>
      ) : (
        <p>{failure.message}</p>
      )}
      {!isWrong && (
        <button type="button" className="button" disabled={wait > 0} onClick={retry}>
          {wait > 0 ? texts.answer.retryIn(wait) : texts.answer.retry}
        </button>
      )}
      {!isWrong && failure.requestId !== undefined && (
        <p className={style.request}>
          {failure.status} · {texts.answer.request(failure.requestId)}
        </p>
      )}
    </div>
  );
}

/** Seconds until a request is allowed again. */
function useCountdown(failure: RequestFailed): number {
  const [left, setLeft] = useState(failure.retryAfterSeconds ?? 0);
  useEffect(() => {
    const until = Date.now() + (failure.retryAfterSeconds ?? 0) * 1000;
    const tick = (): void => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [failure]);
  return left;
}
