// Delivery: lag, backlog and failed jobs of the project; for operators also the checks and queues
// of the installation.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { duration, exact, instant } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import type { Project } from '../boot.js';
import { Tiles } from '../charts/big-number.js';
import { plural } from '../texts/plural.js';
import { settingsTexts } from '../texts/settings.js';
import { type Delivery, decideJob, deliveryQuery, type FailedJob, type Finding, type QueueState } from './api.js';
import { Problem } from './problem.js';
import { ScrollingTable } from './scrolling-table.js';
import style from './settings.module.css';
import { TypedConfirmation } from './typed-confirmation.js';
import { useConfirmation } from './use-attempt.js';

const EVERY_MS = 5000;
const words = settingsTexts.delivery;

export function DeliveryPart({ project }: { readonly project: Project }) {
  const request = useQuery({ ...deliveryQuery(project), refetchInterval: EVERY_MS });
  const { data } = request;
  if (data === undefined) return <Pending of={request} />;
  return (
    <>
      <p className="muted">{words.note}</p>
      <Pending of={request} />
      <Tiles tiles={tilesOf(data)} />
      <FailedJobs project={project} jobs={data.failed} />
      {data.installation !== null && (
        <>
          <Checks checks={data.installation.checks} />
          <Queues queues={data.installation.queues} />
        </>
      )}
    </>
  );
}

const tilesOf = ({ lag_seconds: lag, backlog }: Delivery) => [
  { name: words.lag, text: lag === null ? words.notMeasured : duration(lag), before: words.lagNote },
  { name: words.events, text: bytes(backlog.events_bytes), before: words.waitingNote },
  { name: words.calls, text: bytes(backlog.calls_bytes), before: words.waitingNote },
];

const KIBIBYTE = 1024;

function bytes(count: number): string {
  if (count === 0) return words.nothing;
  if (count < KIBIBYTE) return `${exact(count)} B`;
  const kibibytes = count / KIBIBYTE;
  return kibibytes < KIBIBYTE
    ? `${exact(Math.round(kibibytes))} KiB`
    : `${exact(Math.round(kibibytes / KIBIBYTE))} MiB`;
}

function FailedJobs({ project, jobs }: { readonly project: Project; readonly jobs: readonly FailedJob[] }) {
  const [note, setNote] = useState('');
  const { asked: discarding, ask, close, problem, isBusy, attempt } = useConfirmation<FailedJob>();
  const replay = (chosen: readonly FailedJob[]): void =>
    void attempt(words.replay, async () => {
      setNote('');
      for (const job of chosen) await decideJob(project, 'replay', job);
      setNote(words.replayed(plural(chosen.length, 'job')));
    });
  const discard = (job: FailedJob): Promise<void> =>
    attempt(words.discard, async () => {
      await decideJob(project, 'discard', job);
      close();
      setNote(words.discarded);
    });
  return (
    <div className={style.section}>
      <h2 id="failed">{words.failed}</h2>
      <p className="muted">{words.failedNote}</p>
      {discarding === undefined && <Problem text={problem} />}
      <p role="status">{note || (jobs.length === 0 && words.noFailed)}</p>
      {jobs.length > 0 && (
        <>
          <ScrollingTable name={words.failed} columns={words.failedColumns}>
            {jobs.map((job) => (
              <tr key={`${job.queue} ${job.id}`}>
                <td>{instant(job.failed_at, project.timezone)}</td>
                <th scope="row">{job.queue}</th>
                <td>{job.events === null ? '' : plural(job.events, 'event')}</td>
                <td>{exact(job.attempts)}</td>
                <td className={style.reason}>{job.reason}</td>
                <td>
                  <button
                    type="button"
                    className="button small"
                    aria-label={words.replayThis(job.id)}
                    disabled={isBusy}
                    onClick={() => replay([job])}
                  >
                    {words.replay}
                  </button>{' '}
                  <button
                    type="button"
                    className="button small"
                    aria-label={words.discardThis(job.id)}
                    disabled={isBusy}
                    onClick={() => ask(job)}
                  >
                    {words.discard}
                  </button>
                </td>
              </tr>
            ))}
          </ScrollingTable>
          {jobs.length > 1 && (
            <div className={style.line}>
              <button type="button" className="button" disabled={isBusy} onClick={() => replay(jobs)}>
                {words.replayAll}
              </button>
            </div>
          )}
        </>
      )}
      {discarding && (
        <TypedConfirmation
          title={words.discardTitle}
          name={discarding.queue}
          label={words.discardLabel}
          confirm={words.discard}
          isBusy={isBusy}
          act={() => discard(discarding)}
          close={close}
        >
          <Problem text={problem} />
          <p>{words.discardNote(discarding.events === null ? discarding.queue : plural(discarding.events, 'event'))}</p>
        </TypedConfirmation>
      )}
    </div>
  );
}

/** What needs attention comes first. */
const ORDER = ['failed', 'attention', 'ok'] as const;

function Checks({ checks }: { readonly checks: readonly Finding[] }) {
  const sorted = [...checks].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  return (
    <div className={style.section}>
      <h2 id="checks">{words.checks}</h2>
      <p className="muted">{words.checksNote}</p>
      <ul className={`card ${style.rows}`} aria-labelledby="checks">
        {sorted.map(({ name, state, found, advice }) => (
          <li key={name} className={style.finding}>
            <strong>{name}</strong>
            <span className={style.state} data-state={state}>
              {words.states[state]}
            </span>
            <span className="muted">{found}</span>
            {state !== 'ok' && <span>{advice}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Queues({ queues }: { readonly queues: readonly QueueState[] }) {
  return (
    <div className={style.section}>
      <h2 id="queues">{words.queues}</h2>
      <ScrollingTable name={words.queues} columns={words.queueColumns}>
        {queues.map(({ queue, waiting, active, delayed, failed, oldest_waiting_seconds: oldest }) => (
          <tr key={queue}>
            <th scope="row">{queue}</th>
            <td>{exact(waiting)}</td>
            <td>{exact(active)}</td>
            <td>{exact(delayed)}</td>
            <td>{exact(failed)}</td>
            <td>{oldest === null ? '' : duration(oldest)}</td>
          </tr>
        ))}
      </ScrollingTable>
    </div>
  );
}
