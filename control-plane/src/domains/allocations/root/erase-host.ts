import type { Services } from '../../../platform/services.ts';
import { sleep, step } from '../../../platform/workflows/definition.ts';
import type { CleanUpRun } from '../cleanup/clean-up.ts';
import { pollErasure, type ErasureStatus } from './poll-erasure.ts';
import { recordErasure } from './record-erasure.ts';

export function eraseSteps(prefix: CleanUpRun['prefix']): string[] {
  return [`${prefix}.erase.look`, `${prefix}.erase.record`];
}

/** Of one attempt; after a failed one another may succeed. */
export type ErasureResult = Extract<ErasureStatus, { kind: 'clean' | 'withdrawn' | 'failed' }>;

/**
 * Inside a workflow: has MAAS erase a host whose tenant had root. The host itself is not asked, because the
 * tenant may control its reports. The proof also starts its reinstallation.
 */
export async function eraseHost(
  services: Services,
  allocationId: string,
  { prefix, workflowId }: CleanUpRun,
): Promise<ErasureResult> {
  let since: string | null = null;
  let begun = false;
  for (;;) {
    const run = { allocationId, workflowId, begun, since };
    const status: ErasureStatus = await step(`${prefix}.erase.look`, (): Promise<ErasureStatus> =>
      pollErasure(services, run),
    );
    if (status.kind === 'erased') {
      const erasure = { systemId: status.systemId, startedAt: since ?? status.at, finishedAt: status.at };
      await step(`${prefix}.erase.record`, () => recordErasure(services, allocationId, erasure));
      return { kind: 'clean' };
    }
    if (status.kind !== 'waiting') return status;
    since ??= status.at;
    begun = status.begun;
    await sleep(`${prefix}.erase.pause`, status.pauseSeconds);
  }
}
