// The request of an import: files go as one body, a line of JSON with their names and sizes before
// them; the answer is read line by line. fetch would not tell how much has been sent.
import type { ErrorLine, ProgressLine, SummaryLine } from '../../../src/imports/upload/lines.js';
import { failureOf, isPage, PAGE_CAME, RequestFailed, signInAgain } from '../api/request.js';
import type { Project } from '../boot.js';
import { importTexts } from '../texts/import.js';

export type ImportSummary = SummaryLine['summary'];
export type ImportProgress = ProgressLine['progress'];

/** Progress of sending the files, 0 to 1, and then of the import. */
export type Step =
  | { readonly kind: 'uploading'; readonly share: number }
  | { readonly kind: 'importing'; readonly progress: ImportProgress };

type Line = Partial<ProgressLine & SummaryLine & ErrorLine>;

export interface ImportRequest {
  readonly source: string;
  readonly files: readonly File[];
  readonly isDryRun: boolean;
  readonly timezone: string;
  readonly site: string;
}

/** Rejects with an Error whose message can be shown, and with the reason of the signal. */
export function requestImport(
  project: Project,
  { source, files, isDryRun, timezone, site }: ImportRequest,
  { signal, onStep }: { readonly signal: AbortSignal; readonly onStep: (step: Step) => void },
): Promise<ImportSummary> {
  const search = new URLSearchParams({ source, dry_run: String(isDryRun) });
  if (timezone !== '') search.set('timezone', timezone);
  if (site !== '') search.set('site', site);
  const head = JSON.stringify(files.map(({ name, size }) => ({ name, bytes: size })));
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const lines = createLineReader();
    let result: Line = {};
    const hasPage = (): boolean => isPage(request.getResponseHeader('Content-Type'));
    const take = (): void => {
      if (request.status !== 200 || hasPage()) return;
      for (const text of lines(request.responseText)) {
        const line = JSON.parse(text) as Line;
        if (line.progress !== undefined) onStep({ kind: 'importing', progress: line.progress });
        else result = line;
      }
    };
    request.open('POST', `/api/projects/${project.id}/imports?${search}`);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.setRequestHeader('Accept', 'application/json');
    request.upload.onprogress = ({ loaded, total }) =>
      onStep({ kind: 'uploading', share: loaded / Math.max(total, 1) });
    request.onprogress = take;
    request.onload = () => {
      take();
      if (request.status !== 200) failed(request).then(reject, reject);
      else if (result.summary !== undefined) resolve(result.summary);
      else reject(new Error(hasPage() ? PAGE_CAME : (result.error ?? importTexts.cutOff)));
    };
    request.onerror = () => reject(new Error(importTexts.cutOff));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(new Blob([`${head}\n`, ...files]));
  });
}

function failed(request: XMLHttpRequest): Promise<RequestFailed> {
  if (request.status === 401) signInAgain();
  const isOfProxy = request.status === 413 && isPage(request.getResponseHeader('Content-Type'));
  if (isOfProxy) return Promise.resolve(new RequestFailed(request.status, importTexts.tooLarge));
  return failureOf(new Response(request.responseText, { status: request.status }));
}

/** The complete lines of a growing text that were not returned before. */
function createLineReader(): (text: string) => readonly string[] {
  let at = 0;
  return (text) => {
    const end = text.lastIndexOf('\n');
    if (end < at) return [];
    const lines = text.slice(at, end).split('\n');
    at = end + 1;
    return lines.filter((line) => line !== '');
  };
}
