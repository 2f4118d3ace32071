import { sleep } from '@gpuaas/sdk/sleep';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { openProgressView } from './progress/open-progress-view.ts';
import type { Session } from './session.ts';
import { CancelledError } from './usage-error.ts';

type Allocation = components['schemas']['Allocation'];
type State = Allocation['state'];

const POLL_MS = 500;
const DEADLINE_MS = 30 * 60_000;
const DEAD_ENDS: ReadonlySet<State> = new Set(['failed', 'release_failed']);

/** Waits for a state and shows progress. Ctrl-C ends the waiting, not the lease. */
export async function followAllocation(
  session: Session,
  id: string,
  wanted: 'active' | 'released',
): Promise<Allocation> {
  const path = { allocation_id: id };
  const view = openProgressView(session, id, wanted);
  const left = new AbortController();
  const leave = (): void => left.abort();
  process.once('SIGINT', leave);
  let deadline = Date.now() + DEADLINE_MS;
  try {
    for (;;) {
      const allocation = await unwrap(
        session.client.GET('/api/v1/allocations/{allocation_id}', { params: { path } }),
      );
      await view.show(allocation);
      if (allocation.state === wanted) return allocation;
      if (DEAD_ENDS.has(allocation.state) || (allocation.state === 'released' && wanted === 'active'))
        throw new Error(
          `${allocation.state.replaceAll('_', ' ')}: ${allocation.failure?.detail ?? 'no reason given'}`,
        );
      // A queued launch has its own deadline.
      if (allocation.state === 'queued') deadline = Date.now() + DEADLINE_MS;
      if (Date.now() > deadline) throw new Error(`still ${allocation.state} after 30 minutes`);
      await sleep(POLL_MS, left.signal);
      if (left.signal.aborted)
        throw new CancelledError(
          `${allocation.name} goes on without you.\n  gpuaas watch ${id}\n  gpuaas release ${id}`,
        );
    }
  } finally {
    process.off('SIGINT', leave);
    view.end();
  }
}
