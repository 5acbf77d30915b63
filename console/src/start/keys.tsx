// Keys of the project, as far as the role of the person goes.
import { useState } from 'react';
import type { ProjectDetails } from '../api/project-details.js';
import { startTexts } from '../texts/start.js';
import { CopyButton } from './copy-button.js';
import style from './start.module.css';

export function Keys({ details }: { readonly details: ProjectDetails }) {
  const [isShown, setShown] = useState(false);
  const { public_key: publicKey, secret_key: secretKey } = details;
  return (
    <dl className={`card ${style.card} ${style.keys}`}>
      <div>
        <dt>{startTexts.publicKey}</dt>
        <dd>
          <span className="muted">{startTexts.publicKeyNote}</span>
          <span className={style.key}>
            <code>{publicKey}</code>
            <CopyButton name={startTexts.publicKey} text={publicKey} />
          </span>
        </dd>
      </div>
      {secretKey !== undefined && (
        <div>
          <dt>{startTexts.secretKey}</dt>
          <dd>
            <span className="muted">{secretKey === null ? startTexts.secretLost : startTexts.secretKeyNote}</span>
            {secretKey !== null && (
              <span className={style.key}>
                {isShown && <code>{secretKey}</code>}
                <button
                  type="button"
                  className="button small"
                  aria-expanded={isShown}
                  onClick={() => setShown(!isShown)}
                >
                  {isShown ? startTexts.hide : startTexts.show}
                </button>
                {isShown && <CopyButton name={startTexts.secretKey} text={secretKey} />}
              </span>
            )}
          </dd>
        </div>
      )}
    </dl>
  );
}
