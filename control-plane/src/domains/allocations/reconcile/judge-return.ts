/** What was delivered, and what the host shows now. */
export interface ReturnEvidence {
  delivered: { bootId: string | null; startedAt: Date | null };
  /** Null when the host does not have the machine. */
  machine: { startedAt: Date; running: boolean } | null;
  bootId: string | null;
}

export type ReturnVerdict = 'served' | 'restarted' | 'stopped' | 'lost';

/** After a silence only evidence counts: the same run of the machine was served, another one is a restart. */
export function judgeReturn({ delivered, machine, bootId }: ReturnEvidence): ReturnVerdict {
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

/** The same in words for the tenant; `since` when the host had been silent. */
export function describeReturn(verdict: ReturnVerdict, since: Date | null): string {
  const silence = since ? `The host did not answer from ${minute(since)}. ` : '';
  switch (verdict) {
    case 'served':
      return since
        ? `${silence}It answers again, and your machine ran all the time.`
        : 'Your machine runs on its host again, as it was.';
    case 'restarted':
      return `${silence}Your machine was restarted: what ran in it has ended, its disk is as it was.`;
    case 'stopped':
      return `${silence}Your machine is shut down. It keeps its capacity and its disk, so it is billed; release it, or ask the operator to start it.`;
    case 'lost':
      return `${silence}The host answers, but your machine does not run on it. You are not billed for it; release it, or wait for the operator.`;
  }
}

export function describeSilence(since: Date): string {
  return `The host of your machine has not answered since ${minute(since)}. The machine may well be running; time that is not proven is not billed.`;
}

function minute(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
