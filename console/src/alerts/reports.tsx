// Reports of the project's dashboards: when each was sent and is sent next, its last runs, and what
// it would send now.
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { instant } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import { useFragment } from '../ask/permalink.js';
import { isAtLeast, type Project } from '../boot.js';
import { Failure } from '../dashboards/source-text.js';
import { ScrollingTable } from '../settings/scrolling-table.js';
import { Icon } from '../shell/icon.js';
import screen from '../shell/screen.module.css';
import { useSearch } from '../shell/search-field.js';
import { Snippet } from '../start/snippet.js';
import { alertTexts } from '../texts/alerts.js';
import style from './alerts.module.css';
import { dryRunReport, type Report, reportsQuery, runsQuery } from './api.js';
import { Badge } from './badge.js';
import { Deliveries } from './deliveries.js';
import { EXAMPLE_REPORT } from './document.js';
import { Head } from './head.js';
import { cancelNew, openNew, useNew } from './new-in-address.js';
import { NewReportDialog } from './new-report.js';
import { noMailFor } from './no-mail.js';
import { useDryRun } from './use-dry-run.js';
import { WrittenIn } from './written-in.js';

const words = alertTexts.reports;

export function Reports({ project }: { readonly project: Project }) {
  const request = useQuery(reportsQuery(project.id));
  const { data } = request;
  const { found, field } = useSearch(data ?? [], textOf, words.search);
  useEffect(() => {
    document.title = `${words.title} · ${project.name}`;
  }, [project.name]);
  const dashboard = useNew();
  const canAdd = isAtLeast(project.role, 'admin');
  const open = new URLSearchParams(useFragment().replace(/^#/, '')).get('report');
  return (
    <div className={screen.page}>
      <Head project={project} part="reports">
        {canAdd && (
          <button type="button" className="button primary" onClick={() => openNew('')}>
            <Icon name="add" size={16} />
            {words.form.new}
          </button>
        )}
      </Head>
      <Pending of={request} />
      {data?.length === 0 && (
        <section className={`card ${screen.empty}`}>
          <h2>{words.none}</h2>
          <p className="muted">{words.noneNote}</p>
          <Snippet name={words.example} text={EXAMPLE_REPORT} />
        </section>
      )}
      {field}
      {found.length > 0 && (
        <ul className={`card ${screen.items}`} aria-label={words.title}>
          {found.map((report) => (
            <Item key={report.id} project={project} report={report} isOpen={report.id === open} />
          ))}
        </ul>
      )}
      {canAdd && dashboard !== null && data !== undefined && (
        <NewReportDialog
          project={project}
          reports={data}
          dashboard={dashboard}
          close={() => openNew(undefined)}
          cancel={cancelNew}
        />
      )}
    </div>
  );
}

const textOf = ({ key, at, to, dashboard }: Report): string => [key, at, ...to, dashboard?.title].join(' ');

interface ItemProps {
  readonly project: Project;
  readonly report: Report;
  readonly isOpen: boolean;
}

function Item({ project, report, isOpen }: ItemProps) {
  const { id, key, at, timezone, to, last_run_at: lastRunAt, next_due_at: nextDueAt } = report;
  const { result, problem, isBusy, run } = useDryRun(() => dryRunReport(project.id, id));
  return (
    <li>
      <div className={screen.itemHead}>
        <h2>{key}</h2>
        <code className={style.schedule}>{at}</code>
        <span className="muted">{timezone}</span>
      </div>
      <p className={screen.facts}>
        <span>{words.next(instant(nextDueAt, timezone))}</span>
        <span>{lastRunAt === null ? words.never : words.last(instant(lastRunAt, timezone))}</span>
        <span>{to.join(', ')}</span>
      </p>
      <p className={style.error}>{noMailFor(to.join())}</p>
      <p>
        <WrittenIn project={project} item={report} place={`reports.${key}`} />
      </p>
      <div className={screen.tools}>
        <button type="button" className="button small" disabled={isBusy} onClick={run} aria-label={words.dryRunOf(key)}>
          <Icon name="play" size={14} />
          {alertTexts.dryRun}
        </button>
        <a
          className="button small"
          href={isOpen ? '#' : `#report=${id}`}
          aria-expanded={isOpen}
          aria-label={words.runsOf(key)}
        >
          {words.runs}
        </a>
      </div>
      <Failure text={problem} />
      {result !== undefined && (
        <div role="status" className={style.dryRun}>
          <p>
            <strong>{alertTexts.wouldSend}</strong> {result.subject}
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: text that scrolls must be reachable by keyboard */}
          <pre tabIndex={0}>{result.text}</pre>
        </div>
      )}
      {isOpen && <Runs project={project} report={report} />}
    </li>
  );
}

function Runs({ project, report: { id, key, timezone } }: Omit<ItemProps, 'isOpen'>) {
  const request = useQuery(runsQuery(project.id, id));
  const { data } = request;
  if (data === undefined || request.error) return <Pending of={request} />;
  if (data.length === 0) return <p className="muted">{words.never}</p>;
  return (
    <ScrollingTable name={words.runsOf(key)} columns={words.columns}>
      {data.map((run) => (
        <tr key={run.at}>
          <th scope="row">{instant(run.at, timezone)}</th>
          <td>
            <Badge of={run.error === null ? 'sent' : 'failed'} text={run.error === null ? words.ran : words.failed} />
            {run.error !== null && <p className={style.error}>{run.error}</p>}
          </td>
          <td>
            <Deliveries deliveries={run.deliveries} timezone={timezone} />
          </td>
        </tr>
      ))}
    </ScrollingTable>
  );
}
