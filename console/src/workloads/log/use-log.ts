import { useEffect, useState } from 'react';
import { ProblemError } from '@gpuaas/sdk/problem';
import { sleep } from '@gpuaas/sdk/sleep';
import { readLog } from '../../api/apps/instances.ts';
import type { AppInstanceLog } from '../../api/types.ts';
import { appendLog, EMPTY_LOG, type LogText } from './log-text.ts';

const WAIT_SECONDS = 15;
const RETRY_MS = 3_000;

interface Place {
  instanceId: string;
  memberId: string;
  /** The byte to begin with. */
  from: number;
}

/** The output of a member from a byte on, followed until the member has ended. */
export function useLog({ instanceId, memberId, from }: Place): { log: LogText; error: Error | null } {
  const [log, setLog] = useState(EMPTY_LOG);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    setLog(EMPTY_LOG);
    setError(null);
    const onPart = (part: AppInstanceLog) => {
      setError(null);
      setLog((old) => appendLog(old, part));
    };
    void follow({ instanceId, memberId, from }, stop.signal, onPart, setError);
    return () => stop.abort();
  }, [instanceId, memberId, from]);
  return { log, error };
}

async function follow(
  { from, ...place }: Place,
  signal: AbortSignal,
  onPart: (part: AppInstanceLog) => void,
  onError: (error: Error) => void,
) {
  let offset = from;
  while (!signal.aborted) {
    await untilVisible(signal);
    try {
      const part = await readLog({ ...place, offset, waitSeconds: WAIT_SECONDS }, signal);
      if (signal.aborted) return;
      onPart(part);
      if (part.complete) return;
      offset = part.next_offset;
    } catch (error) {
      if (signal.aborted || !(error instanceof Error)) return;
      onError(error);
      // A refusal is final.
      if (error instanceof ProblemError && error.problem.status < 500) return;
      await sleep(RETRY_MS, signal);
    }
  }
}

/** A browser allows only few connections to one server: a tab that nobody sees keeps none. */
async function untilVisible(signal: AbortSignal) {
  if (!document.hidden) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      document.removeEventListener('visibilitychange', go);
      resolve();
    };
    document.addEventListener('visibilitychange', go);
    signal.addEventListener('abort', go, { once: true });
  });
}
