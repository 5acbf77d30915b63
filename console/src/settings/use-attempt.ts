// Hook for the action of a form: whether it is running, and the error message if it failed.
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../api/message-of.js';
import { isPassing, RequestFailed } from '../api/request.js';

export interface Attempt {
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  /** Runs the action, whose control has this name, and reads the settings again. */
  readonly attempt: (action: string, act: () => Promise<void>) => Promise<void>;
  /** Clears the problem: another dialog is opened, or this one again. */
  readonly forget: () => void;
}

export function useAttempt(): Attempt {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const client = useQueryClient();
  const readAgain = () => client.invalidateQueries({ queryKey: ['settings'] });
  const attempt = async (action: string, act: () => Promise<void>): Promise<void> => {
    setProblem(undefined);
    setBusy(true);
    try {
      await act();
      await readAgain();
    } catch (error) {
      setProblem(messageOf(error, action));
      // It may have happened, and the answer been lost: a key that was rotated is another one. What
      // is not found was removed elsewhere.
      const isGone = error instanceof RequestFailed && error.status === 404;
      if (isGone || isPassing(error)) void readAgain();
    } finally {
      setBusy(false);
    }
  };
  return { problem, isBusy, attempt, forget: () => setProblem(undefined) };
}
