import type { Services } from '../../../platform/services.ts';
import { sleep, step } from '../../../platform/workflows/definition.ts';
import type { CleanUpRun } from '../clean-up.ts';
import { lookAtErasure, type ErasureLook } from './look-at-erasure.ts';
import { recordErasure } from './record-erasure.ts';

export function eraseSteps(prefix: CleanUpRun['prefix']): string[] {
  return [`${prefix}.erase.look`, `${prefix}.erase.record`];
}

/** `failed`: why one attempt has brought nothing; another may. */
export type ErasureResult = 'clean' | 'withdrawn' | { failed: string };

/**
 * Inside a workflow: has MAAS erase a host whose tenant had root. The host itself is not asked for anything, as it
 * might say what the tenant wants it to. With the proof begins its installation.
 */
export async function eraseHost(
  services: Services,
  allocationId: string,
  { prefix, executionState }: CleanUpRun,
): Promise<ErasureResult> {
  let since: string | null = null;
  let begun = false;
  for (;;) {
    const run = { allocationId, executionState, begun, since };
    const look: ErasureLook = await step(`${prefix}.erase.look`, (): Promise<ErasureLook> =>
      lookAtErasure(services, run),
    );
    if (look.kind === 'erased') {
      const erasure = { systemId: look.systemId, startedAt: since ?? look.at, finishedAt: look.at };
      await step(`${prefix}.erase.record`, () => recordErasure(services, allocationId, erasure));
      return 'clean';
    }
    if (look.kind === 'failed') return { failed: look.detail };
    if (look.kind !== 'waiting') return look.kind;
    since ??= look.at;
    begun = look.begun;
    await sleep(`${prefix}.erase.pause`, look.pauseSeconds);
  }
}
