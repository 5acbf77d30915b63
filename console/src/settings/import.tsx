// Importing the history of another product: the files are checked first, and imported after that.
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { Distinct } from '../../../src/imports/upload/lines.js';
import { instant, exact as number } from '../answer/format.js';
import { messageOf } from '../api/message-of.js';
import type { Project } from '../boot.js';
import { importTexts } from '../texts/import.js';
import { type ImportProgress, type ImportSummary, requestImport, type Step } from './import-request.js';
import { Problem } from './problem.js';
import { ScrollingTable } from './scrolling-table.js';
import style from './settings.module.css';

type Source = keyof typeof importTexts.sources;

interface Choice {
  readonly source: string;
  readonly files: readonly File[];
  readonly timezone: string;
  readonly site: string;
}

interface Done {
  readonly isDryRun: boolean;
  readonly summary: ImportSummary;
}

export function Import({ project }: { readonly project: Project }) {
  const [source, setSource] = useState<Source>('mixpanel');
  const [choice, setChoice] = useState<Choice>();
  const [step, setStep] = useState<Step>();
  const [isCheck, setCheck] = useState(true);
  const [done, setDone] = useState<Done>();
  const [problem, setProblem] = useState<string>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function run(chosen: Choice, isDryRun: boolean): Promise<void> {
    const controller = new AbortController();
    running.current = controller;
    setCheck(isDryRun);
    setProblem(undefined);
    setDone(undefined);
    setStep({ kind: 'uploading', share: 0 });
    try {
      const options = { signal: controller.signal, onStep: setStep };
      setDone({ isDryRun, summary: await requestImport(project, { ...chosen, isDryRun }, options) });
    } catch (error) {
      const reason = controller.signal.aborted ? importTexts.cancelled : messageOf(error);
      setProblem(`${reason}. ${isDryRun ? importTexts.nothingStored : importTexts.goOn}`);
    } finally {
      setStep(undefined);
    }
  }

  const check = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const chosen = {
      source,
      files: form.getAll('files').filter((file) => file instanceof File),
      timezone: String(form.get('timezone') ?? '').trim(),
      site: String(form.get('site') ?? '').trim(),
    };
    setChoice(chosen);
    void run(chosen, true);
  };
  const forget = (): void => {
    setDone(undefined);
    setProblem(undefined);
  };
  const canImport = choice !== undefined && done?.isDryRun === true && !isEmpty(done.summary);
  // A check is asked for by its own button: it may have failed because of the files.
  const canRepeat = choice !== undefined && problem !== undefined && step === undefined && !isCheck;
  return (
    <>
      <p className="muted">{importTexts.note}</p>
      <form
        className={`card ${style.card} ${style.form}`}
        aria-busy={step !== undefined}
        onSubmit={check}
        onChange={forget}
      >
        <label>
          {importTexts.from}
          <select
            className="field"
            value={source}
            disabled={step !== undefined}
            onChange={(event) => setSource(event.target.value as Source)}
          >
            {Object.entries(importTexts.sources).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          {importTexts.files}
          <input className="field" type="file" name="files" multiple required disabled={step !== undefined} />
          <span className="muted">{importTexts.filesNote}</span>
        </label>
        {source === 'mixpanel' && (
          <label>
            {importTexts.timezone}
            <input className="field" name="timezone" disabled={step !== undefined} />
            <span className="muted">{importTexts.timezoneNote}</span>
          </label>
        )}
        {source === 'access-log' && (
          <label>
            {importTexts.site}
            <input className="field" type="url" name="site" disabled={step !== undefined} />
            <span className="muted">{importTexts.siteNote}</span>
          </label>
        )}
        <div className={style.buttons}>
          <button type="submit" className={canImport ? 'button' : 'button primary'} disabled={step !== undefined}>
            {importTexts.check}
          </button>
          {step !== undefined && (
            <button type="button" className="button" onClick={() => running.current?.abort()}>
              {importTexts.cancel}
            </button>
          )}
        </div>
      </form>
      {step !== undefined && <Progress step={step} isCheck={isCheck} />}
      <Problem text={problem} />
      {canRepeat && (
        <div>
          <button type="button" className="button" onClick={() => void run(choice, false)}>
            {importTexts.importAgain}
          </button>
        </div>
      )}
      {done !== undefined && <Summary done={done} timezone={project.timezone} />}
      {canImport && (
        <div>
          <button type="button" className="button primary" onClick={() => void run(choice, false)}>
            {importTexts.importNow(done.summary.events)}
          </button>
        </div>
      )}
    </>
  );
}

const isEmpty = ({ events, links, profiles }: ImportSummary): boolean => events + links + profiles === 0;

function Progress({ step, isCheck }: { readonly step: Step; readonly isCheck: boolean }) {
  const share = step.kind === 'uploading' ? step.share : shareOf(step.progress);
  useEffect(() => {
    const askFirst = (event: Event): void => event.preventDefault();
    addEventListener('beforeunload', askFirst);
    return () => removeEventListener('beforeunload', askFirst);
  }, []);
  return (
    <div className={style.progress}>
      <progress aria-label={isCheck ? importTexts.progressOfCheck : importTexts.progress} value={share} />
      <span role="status">
        {step.kind === 'uploading' ? importTexts.uploading(Math.floor(share * 100)) : describe(step.progress)}
      </span>
      <span className="muted">{isCheck ? importTexts.stayToCheck : importTexts.stay}</span>
    </div>
  );
}

const shareOf = ({ bytes_read: read, bytes_total: total }: ImportProgress): number =>
  total === 0 ? 0 : Math.min(read / total, 1);

function describe(progress: ImportProgress): string {
  if (progress.identities > 0) return importTexts.identities(number(progress.identities));
  const share = shareOf(progress);
  const seconds = progress.elapsed_ms / 1000;
  const left = share > 0.02 ? importTexts.left(Math.ceil((seconds * (1 - share)) / share)) : '';
  const rate = Math.round(progress.read / Math.max(seconds, 0.001));
  return importTexts.reading(number(progress.read), number(rate), left);
}

function Summary({ done: { isDryRun, summary }, timezone }: { readonly done: Done; readonly timezone: string }) {
  const { summary: names } = importTexts;
  const skipped = summary.skipped.reduce((sum, { count }) => sum + count, 0);
  const rows: readonly (readonly [name: string, value: string | undefined])[] = [
    [names.read, number(summary.read)],
    [names.events, number(summary.events)],
    [names.stored, summary.stored === null ? undefined : number(summary.stored)],
    [names.already_there, summary.already_there === null ? undefined : number(summary.already_there)],
    [names.dropped, summary.dropped === 0 ? undefined : number(summary.dropped)],
    [names.refused, summary.refused === 0 ? undefined : number(summary.refused)],
    [names.links, number(summary.links)],
    [names.profiles, number(summary.profiles)],
    [names.skipped, number(skipped)],
    [names.first, summary.first === null ? undefined : instant(summary.first, timezone)],
    [names.last, summary.last === null ? undefined : instant(summary.last, timezone)],
    [names.people, distinct(summary.people)],
    [names.devices, distinct(summary.devices)],
  ];
  const title = isDryRun ? importTexts.checked : importTexts.imported;
  return (
    <section className={style.section} aria-label={title}>
      <h2>{title}</h2>
      <p role="status" className="unseen">
        {title}
      </p>
      {isEmpty(summary) && <p>{importTexts.nothing}</p>}
      <dl className={`card ${style.card} ${style.counts}`}>
        {rows.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {summary.skipped.length > 0 && (
        <ScrollingTable name={names.skipped} columns={importTexts.skippedColumns}>
          {summary.skipped.map(({ reason, count, places }) => (
            <tr key={reason}>
              <th scope="row">{reason}</th>
              <td>{number(count)}</td>
              <td>{`${places.join(', ')}${count > places.length ? ', …' : ''}`}</td>
            </tr>
          ))}
        </ScrollingTable>
      )}
    </section>
  );
}

const distinct = ({ count, is_exact: isExact }: Distinct): string =>
  isExact ? number(count) : `${importTexts.about} ${number(count)}`;
