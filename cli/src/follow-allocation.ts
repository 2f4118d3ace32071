import type { components } from '@gpuaas/sdk/contract';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';

type Allocation = components['schemas']['Allocation'];
type State = Allocation['state'];

const POLL_MS = 500;
const DEADLINE_MS = 30 * 60_000;
const DEAD_ENDS: ReadonlySet<State> = new Set(['failed', 'release_failed']);

/** Waits for a state, telling each new timeline entry on the way. */
export async function followAllocation(
  client: GpuaasClient,
  id: string,
  wanted: State,
  quiet: boolean,
): Promise<Allocation> {
  const path = { allocation_id: id };
  const deadline = Date.now() + DEADLINE_MS;
  let page: string | undefined;
  let told = 0;
  for (;;) {
    const query = { limit: 200, ...(page ? { page } : {}) };
    const timeline = await unwrap(
      client.GET('/api/v1/allocations/{allocation_id}/timeline', { params: { path, query } }),
    );
    for (const entry of quiet ? [] : timeline.items.slice(told)) {
      if (entry.status !== 'running' || entry.percent === null)
        console.error(`  ${entry.stage}: ${entry.message}`);
    }
    told = timeline.items.length;
    if (timeline.next_page) [page, told] = [timeline.next_page, 0];
    const allocation = await unwrap(client.GET('/api/v1/allocations/{allocation_id}', { params: { path } }));
    if (allocation.state === wanted) return allocation;
    if (DEAD_ENDS.has(allocation.state)) {
      throw new Error(`it is ${allocation.state}: ${allocation.failure?.detail ?? 'no reason given'}`);
    }
    if (Date.now() > deadline) throw new Error(`it is still ${allocation.state} after half an hour`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
