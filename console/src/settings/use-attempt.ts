// Hook for the action of a form: whether it is running, and the error message if it failed.
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

export interface Attempt {
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  /** Runs the action, and reads the settings again. */
  readonly attempt: (act: () => Promise<void>) => Promise<void>;
}

export function useAttempt(): Attempt {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const client = useQueryClient();
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setProblem(undefined);
    setBusy(true);
    try {
      await act();
      await client.invalidateQueries({ queryKey: ['settings'] });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return { problem, isBusy, attempt };
}
