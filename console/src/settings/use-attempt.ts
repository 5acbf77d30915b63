// Hooks for the action of a form, and for one that a dialog confirms: whether it is running, and
// the error message if it failed.
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../api/message-of.js';
import { isPassing, RequestFailed } from '../api/request.js';

export interface Attempt {
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  /** Runs the action, whose control has this name, and reads the settings again. */
  readonly attempt: (action: string, act: () => Promise<void>) => Promise<void>;
  /** Clears the problem. */
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

export interface Confirmation<T> extends Omit<Attempt, 'forget'> {
  /** What the dialog asks about; undefined while it is closed. */
  readonly asked: T | undefined;
  /** Opens the dialog, without the problem of an attempt before. */
  readonly ask: (about: T) => void;
  readonly close: () => void;
}

export function useConfirmation<T>(): Confirmation<T> {
  const [asked, setAsked] = useState<T>();
  const { forget, ...attempt } = useAttempt();
  const show = (about: T | undefined): void => {
    forget();
    setAsked(() => about);
  };
  return { ...attempt, asked, ask: show, close: () => show(undefined) };
}
