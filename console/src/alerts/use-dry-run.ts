// Hook of a dry run: its result, or why it failed.
import { useState } from 'react';
import { messageOf } from '../api/message-of.js';
import { alertTexts } from '../texts/alerts.js';

interface DryRunState<T> {
  readonly result: T | undefined;
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  readonly run: () => void;
}

export function useDryRun<T>(ask: () => Promise<T>): DryRunState<T> {
  const [result, setResult] = useState<T>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    setResult(undefined);
    try {
      setResult(await ask());
    } catch (error) {
      setProblem(messageOf(error, alertTexts.dryRun));
    } finally {
      setBusy(false);
    }
  };
  return { result, problem, isBusy, run: () => void run() };
}
