// Keys of the project, as far as the role of the person goes.
import { useState } from 'react';
import { texts } from '../texts.js';
import { CopyButton } from './copy-button.js';
import type { ProjectDetails } from './start.js';
import style from './start.module.css';

export function Keys({ details }: { readonly details: ProjectDetails }) {
  const [isShown, setShown] = useState(false);
  const { public_key: publicKey, secret_key: secretKey } = details;
  return (
    <dl className={`card ${style.card} ${style.keys}`}>
      <div>
        <dt>{texts.start.publicKey}</dt>
        <dd>
          <span className="muted">{texts.start.publicKeyNote}</span>
          <span className={style.key}>
            <code>{publicKey}</code>
            <CopyButton name={texts.start.publicKey} text={publicKey} />
          </span>
        </dd>
      </div>
      {secretKey !== undefined && (
        <div>
          <dt>{texts.start.secretKey}</dt>
          <dd>
            <span className="muted">{secretKey === null ? texts.start.secretLost : texts.start.secretKeyNote}</span>
            {secretKey !== null && (
              <span className={style.key}>
                {isShown && <code>{secretKey}</code>}
                <button
                  type="button"
                  className="button small"
                  aria-expanded={isShown}
                  onClick={() => setShown(!isShown)}
                >
                  {isShown ? texts.start.hide : texts.start.show}
                </button>
                {isShown && <CopyButton name={texts.start.secretKey} text={secretKey} />}
              </span>
            )}
          </dd>
        </div>
      )}
    </dl>
  );
}
