/** The delivered machine, and the host's current report. */
export interface ReturnEvidence {
  delivered: { bootId: string | null; startedAt: Date | null };
  /** Null when the host does not have the machine. */
  machine: { startedAt: Date; running: boolean } | null;
  bootId: string | null;
}

export type ReturnVerdict = 'served' | 'restarted' | 'stopped' | 'lost';

/** After a silence only evidence counts: the same run of the machine was served, another one is a restart. */
export function classifyReturn({ delivered, machine, bootId }: ReturnEvidence): ReturnVerdict {
  if (!machine) return 'lost';
  if (!machine.running) return 'stopped';
  const sameBoot = delivered.bootId === null || delivered.bootId === bootId;
  const sameRun = delivered.startedAt === null || sameSecond(delivered.startedAt, machine.startedAt);
  return sameBoot && sameRun ? 'served' : 'restarted';
}

/** Hosts and databases round times differently. */
function sameSecond(a: Date, b: Date): boolean {
  return Math.abs(a.getTime() - b.getTime()) < 1000;
}

/** The verdict as text for the tenant; `since` is the start of the silence. */
export function describeReturn(verdict: ReturnVerdict, since: Date | null): string {
  const silence = since ? `The host was unreachable from ${minute(since)}. ` : '';
  switch (verdict) {
    case 'served':
      return since
        ? `${silence}It is back, and your machine kept running.`
        : 'Your machine is running on its host again, unchanged.';
    case 'restarted':
      return `${silence}Your machine was restarted. Processes in it have ended; its disk is unchanged.`;
    case 'stopped':
      return `${silence}Your machine is shut down. It still holds its capacity and disk and is billed. Release it, or ask the operator to start it.`;
    case 'lost':
      return `${silence}${since ? 'The host is back, but your machine is not running.' : 'Your machine is not running on its host.'} You are not billed. Release it, or wait for the operator.`;
  }
}

export function describeSilence(since: Date): string {
  return `The host of your machine has been unreachable since ${minute(since)}. The machine may still be running; unverified time is not billed.`;
}

function minute(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
