// Erases a person after their id has been typed, and shows the receipt.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { exact, instant } from '../answer/format.js';
import { messageOf } from '../api/message-of.js';
import { getJson, isPassing, postJson } from '../api/request.js';
import type { Project } from '../boot.js';
import { Problem } from '../settings/problem.js';
import { TypedConfirmation } from '../settings/typed-confirmation.js';
import { Dialog } from '../shell/dialog.js';
import { peopleTexts } from '../texts/people.js';
import { texts } from '../texts.js';
import style from './people.module.css';

interface Receipt {
  readonly status: 'pending' | 'deleted' | 'purged';
  readonly request_id: string;
  readonly events?: number;
  readonly mappings?: number;
  readonly profiles?: number;
  readonly devices?: number;
  readonly verified_at?: string | null;
  readonly purge_by?: string | null;
}

const COUNTS = ['events', 'mappings', 'profiles', 'devices'] as const;
const POLL_MS = 2000;

export function Erasure({ project, id }: { readonly project: Project; readonly id: string }) {
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [receipt, setReceipt] = useState<Receipt>();
  const client = useQueryClient();
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  const path = `/api/projects/${project.id}/erasures`;
  const ask = (): void => {
    setProblem(undefined);
    setAsking(true);
  };
  const erase = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      let found = await postJson<Receipt>(path, { user_id: id });
      setReceipt(found);
      setAsking(false);
      // The erasure goes on without this page.
      while (found.status === 'pending' && isShown.current) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        found = await readReceipt(`${path}/${found.request_id}`, found);
      }
      setReceipt(found);
      await client.invalidateQueries({ queryKey: ['person', project.id] });
    } catch (error) {
      setProblem(messageOf(error, peopleTexts.eraseIt));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" className="button danger" onClick={ask}>
        {peopleTexts.erase}
      </button>
      {isAsking && (
        <TypedConfirmation
          title={peopleTexts.eraseTitle}
          name={id}
          label={peopleTexts.typeId}
          confirm={peopleTexts.eraseIt}
          isBusy={isBusy}
          act={erase}
          close={() => setAsking(false)}
        >
          <p>{peopleTexts.eraseNote}</p>
          <Problem text={problem} />
        </TypedConfirmation>
      )}
      {receipt === undefined && !isAsking && <Problem text={problem} />}
      {receipt !== undefined && !isAsking && (
        <ReceiptDialog project={project} receipt={receipt} problem={problem} close={() => setReceipt(undefined)} />
      )}
    </>
  );
}

/** `before` while the service cannot answer: the erasure goes on meanwhile. */
async function readReceipt(path: string, before: Receipt): Promise<Receipt> {
  try {
    return await getJson<Receipt>(path);
  } catch (error) {
    if (isPassing(error)) return before;
    throw error;
  }
}

interface ReceiptProps {
  readonly project: Project;
  readonly receipt: Receipt;
  readonly problem: string | undefined;
  readonly close: () => void;
}

function ReceiptDialog({ project, receipt, problem, close }: ReceiptProps) {
  const { verified_at: verified, purge_by: purgeBy } = receipt;
  return (
    <Dialog name={peopleTexts.receipt} close={close} className={style.dialog}>
      <h2>{receipt.status === 'pending' ? peopleTexts.erasing : peopleTexts.erased}</h2>
      <dl className={style.facts}>
        {COUNTS.map((name) => (
          <div key={name}>
            <dt>{peopleTexts.counts[name]}</dt>
            <dd>{receipt[name] === undefined ? '–' : exact(receipt[name])}</dd>
          </div>
        ))}
      </dl>
      {verified && <p className="muted">{peopleTexts.verified(instant(verified, project.timezone))}</p>}
      {purgeBy && <p className="muted">{peopleTexts.purgeBy(instant(purgeBy, project.timezone))}</p>}
      <Problem text={problem} />
      <p className={style.request}>{peopleTexts.request(receipt.request_id)}</p>
      <form method="dialog">
        <button type="submit" className="button">
          {texts.close}
        </button>
      </form>
    </Dialog>
  );
}
