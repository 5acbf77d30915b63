// The text of a dashboard: problems at their lines, and the changes before they are saved.
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { RequestFailed } from '../api/request.js';
import type { Project } from '../boot.js';
import { texts } from '../texts.js';
import { setAddress } from './address.js';
import { changeDashboard, type Dashboard } from './api.js';
import { ChangesDialog } from './changes-dialog.js';
import style from './dashboards.module.css';

interface Problem {
  readonly message: string;
  readonly hint: string;
  readonly line: number;
  readonly column: number;
}

interface Props {
  readonly project: Project;
  readonly dashboard: Dashboard;
}

export function Editor({ project, dashboard }: Props) {
  const { id, version: baseVersion, source_yaml: before } = dashboard;
  const [source, setSource] = useState(before);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [failure, setFailure] = useState<string>();
  const [isReviewing, setReviewing] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const client = useQueryClient();
  const leave = (): void => setAddress({ view: 'cards', values: {} });

  const write = async (isDryRun: boolean): Promise<boolean> => {
    setFailure(undefined);
    try {
      await changeDashboard(project.id, id, { source, baseVersion, isDryRun });
      setProblems([]);
      return true;
    } catch (error) {
      const details = error instanceof RequestFailed ? (error.details as readonly Problem[]) : [];
      setProblems(details);
      if (details.length === 0) setFailure(error instanceof Error ? error.message : String(error));
      return false;
    }
  };
  const save = async (): Promise<void> => {
    if (!(await write(false))) return setReviewing(false);
    await client.invalidateQueries({ queryKey: ['dashboard', project.id, id] });
    leave();
  };
  const goTo = ({ line, column }: Problem): void => {
    const at =
      source
        .split('\n')
        .slice(0, line - 1)
        .join('\n').length +
      (line > 1 ? 1 : 0) +
      column -
      1;
    field.current?.focus();
    field.current?.setSelectionRange(at, at);
  };

  return (
    <section className={style.editor} aria-label={texts.dashboards.text}>
      <header className={style.head}>
        <h1>{dashboard.title}</h1>
        <div className={style.tools}>
          <button type="button" className="button" onClick={leave}>
            {texts.dashboards.cancel}
          </button>
          <button
            type="button"
            className="button primary"
            disabled={source === before}
            onClick={() => void write(true).then(setReviewing)}
          >
            {texts.dashboards.review}
          </button>
        </div>
      </header>
      {failure !== undefined && (
        <p role="alert" className={style.problem}>
          {failure}
        </p>
      )}
      {problems.length > 0 && (
        <div role="alert">
          <ul className={style.problems} aria-label={texts.dashboards.problems}>
            {problems.map((problem) => (
              <li key={`${problem.line} ${problem.column} ${problem.message}`}>
                <button type="button" className="button small" onClick={() => goTo(problem)}>
                  {texts.dashboards.line(problem.line)}
                </button>{' '}
                {problem.message} <span className="muted">· {problem.hint}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div className={`card ${style.text}`}>
        <div className={style.numbers} aria-hidden="true">
          {source.split('\n').map((_, index) => (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: lines are numbered
              key={index}
              data-wrong={problems.some(({ line }) => line === index + 1) || undefined}
            >
              {index + 1}
            </span>
          ))}
        </div>
        <textarea
          ref={field}
          className={style.textarea}
          aria-label={texts.dashboards.text}
          value={source}
          rows={source.split('\n').length + 1}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          onChange={({ target }) => setSource(target.value)}
        />
      </div>
      {isReviewing && (
        <ChangesDialog
          before={before}
          after={source}
          confirm={texts.dashboards.save}
          act={save}
          close={() => setReviewing(false)}
        />
      )}
    </section>
  );
}
