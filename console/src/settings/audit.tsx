// Audit trail: erasures, exports and deletions, the newest first.
import { useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { instant } from '../answer/format.js';
import { Pending } from '../answer/pending.js';
import { isAtLeast, type Project } from '../boot.js';
import { auditActions, auditOutcomes } from '../texts/audit.js';
import { settingsTexts } from '../texts/settings.js';
import { AUDIT_PAGE, type AuditEntry, auditQuery, membersQuery } from './api.js';
import { ScrollingTable } from './scrolling-table.js';
import style from './settings.module.css';

export function Audit({ project }: { readonly project: Project }) {
  const [pages, setPages] = useState<readonly (string | undefined)[]>([undefined]);
  const request = useQuery(auditQuery(project, pages.at(-1)));
  const { data } = request;
  // The members are those of the organization now: who left it is shown by the id.
  const { data: members } = useQuery({ ...membersQuery(project), enabled: isAtLeast(project.role, 'owner') });
  const nameOf = ({ id }: AuditEntry['actor']): string | undefined => {
    const member = members?.find(({ user_id: userId }) => userId === id);
    return member?.email ?? member?.name ?? undefined;
  };
  if (data === undefined) return <Pending of={request} />;
  return (
    <>
      <p className="muted">{settingsTexts.auditNote}</p>
      {data.length === 0 ? (
        <p role="status">{settingsTexts.noAudit}</p>
      ) : (
        <ScrollingTable name={settingsTexts.parts.audit} columns={settingsTexts.auditColumns}>
          {data.map((entry) => (
            <tr key={entry.id}>
              <td className={style.moment}>{instant(entry.at, project.timezone)}</td>
              <th scope="row" className={style.action}>
                {auditActions[entry.action] ?? entry.action}
                <code className={style.prefix}>{entry.action}</code>
              </th>
              <td>{auditOutcomes[entry.outcome] ?? entry.outcome}</td>
              <td className={style.by}>
                {nameOf(entry.actor)
                  ?.split(/(?<=[@.])/)
                  .map((part, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a part has no other key than its place
                    <Fragment key={index}>
                      {part}
                      <wbr />
                    </Fragment>
                  )) ?? (
                  <>
                    {settingsTexts.actors[entry.actor.kind as 'person'] ?? entry.actor.kind}
                    <code className={style.prefix}>{entry.actor.id}</code>
                  </>
                )}
              </td>
              <td>{subjectOf(entry)}</td>
              <td className={style.reason}>{detailsOf(entry)}</td>
            </tr>
          ))}
        </ScrollingTable>
      )}
      <div className={style.line}>
        {pages.length > 1 && (
          <button type="button" className="button" onClick={() => setPages(pages.slice(0, -1))}>
            {settingsTexts.newer}
          </button>
        )}
        {data.length === AUDIT_PAGE && (
          <button type="button" className="button" onClick={() => setPages([...pages, data.at(-1)?.id])}>
            {settingsTexts.older}
          </button>
        )}
      </div>
    </>
  );
}

const subjectOf = ({ subject, subject_hash: hash }: AuditEntry): string =>
  subject ?? (hash === null ? '' : settingsTexts.hashed(hash.slice(0, 12)));

const detailsOf = ({ details }: AuditEntry): string =>
  Object.entries(details)
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${String(value)}`)
    .join(' · ');
