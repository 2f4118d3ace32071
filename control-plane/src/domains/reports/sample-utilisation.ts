import { sql } from 'kysely';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';

const DAY_MS = 86_400_000;

/** Samples the leased share and the utilisation of the fleet, and deletes samples past retention. */
export const sampleUtilisation: Tick<Services> = {
  name: 'reports.sample_utilisation',
  everySeconds: 300,
  catchUp: 'skip',
  run: recordUtilisationSample,
};

export async function recordUtilisationSample({ db, clock, policies }: Services): Promise<void> {
  const now = clock.now();
  await sql`
    insert into utilisation_samples (taken_at, region, gpu_model, approved, sold, available, seen, busy_percent_sum)
    select ${now}::timestamptz, n.region, s.gpu_model, count(*),
      count(*) filter (where s.state in ('reserved', 'in_use')), count(*) filter (where s.state = 'available'),
      count(g.percent), coalesce(sum(g.percent), 0)
    from node_resource_slots s join nodes n on n.id = s.node_id
      left join lateral (
        select (seen.gpu ->> 'utilisation_percent')::integer as percent
        from jsonb_array_elements(n.observed -> 'gpus') as seen (gpu)
        where s.state = 'in_use' and seen.gpu ->> 'pci_address' = s.gpu_pci_address limit 1
      ) as g on true
    where s.state <> 'disabled'
    group by n.region, s.gpu_model
    on conflict do nothing`.execute(db);
  const kept = new Date(now.getTime() - policies.get('reports.keep_utilisation_days') * DAY_MS);
  await sql`delete from utilisation_samples where taken_at < ${kept}`.execute(db);
}
