// In the place of what a request will answer: says that it is loading, or why it failed. Nothing
// once there is an answer to show.
import type { RequestFailed } from '../api/request.js';
import { texts } from '../texts.js';
import { FailedAnswer } from './failed-answer.js';

interface Props {
  readonly of: {
    readonly data: unknown;
    readonly error: RequestFailed | null;
    readonly refetch: () => Promise<unknown>;
  };
}

export function Pending({ of: { data, error, refetch } }: Props) {
  if (error !== null) {
    return <FailedAnswer failure={error} retry={() => void refetch()} title={texts.notLoaded} />;
  }
  return data === undefined ? <p role="status">{texts.loading}</p> : null;
}
