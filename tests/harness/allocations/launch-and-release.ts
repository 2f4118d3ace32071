import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { launch, release } from './allocations.ts';
import type { TestPlatform } from '../platform.ts';

export interface RoundTrips {
  seconds: number;
  /** Milliseconds that an allocation spent on average between two events of its way. */
  stages: Record<string, number>;
}

const STALLED_MS = 300_000;

/** Launches and releases allocations of one GPU, always this many of them in flight. */
export async function launchAndRelease(
  { member, projectId, services: { db } }: TestPlatform,
  { count, inFlight }: { count: number; inFlight: number },
): Promise<RoundTrips> {
  const began = performance.now();
  const waiting = new Map<string, { state: string; arrived: () => void }>();
  let left = count;
  let open = inFlight;
  const reach = (id: string, state: string): Promise<void> =>
    new Promise((arrived) => waiting.set(id, { state, arrived }));
  const goOn = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { id } = await launch(member, projectId, 1);
      await reach(id, 'active');
      await release(member, id);
      await reach(id, 'released');
    }
    open -= 1;
  };
  const watch = async (): Promise<void> => {
    let moved = performance.now();
    // One query for all of them: separate polling would dominate the measurement.
    while (open > 0) {
      const ids = [...waiting.keys()];
      const rows = ids.length
        ? await db
            .selectFrom('allocations')
            .select(['id', 'state', 'failure'])
            .where('id', 'in', ids)
            .execute()
        : [];
      for (const { id, state, failure } of rows) {
        if (state === 'failed' || state === 'release_failed') throw new Error(JSON.stringify(failure));
        const { state: wanted, arrived } = waiting.get(id)!;
        if (state !== wanted) continue;
        waiting.delete(id);
        moved = performance.now();
        arrived();
      }
      if (performance.now() - moved > STALLED_MS) throw new Error('no allocation makes progress');
      await pause(20);
    }
  };
  await Promise.all([watch(), ...Array.from({ length: inFlight }, goOn)]);
  const seconds = (performance.now() - began) / 1000;
  const { rows } = await sql<{ stage: string; ms: number }>`
    with moments as (
      select subject_id, event_type, occurred_at,
        lag(event_type) over way as before, lag(occurred_at) over way as since
      from outbox_events where event_type in ('allocation.reserved', 'allocation.provisioning', 'allocation.active',
        'allocation.release_requested', 'allocation.releasing', 'allocation.released')
      window way as (partition by subject_id order by position)
    )
    select replace(before || ' to ' || event_type, 'allocation.', '') as stage,
      avg(extract(epoch from occurred_at - since) * 1000)::float8 as ms
    from moments where before is not null group by 1`.execute(db);
  return { seconds, stages: Object.fromEntries(rows.map(({ stage, ms }) => [stage, ms])) };
}
