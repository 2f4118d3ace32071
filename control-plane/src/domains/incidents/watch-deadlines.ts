import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import type { NewIncident } from './open-incident.ts';
import { syncIncidents } from './sync-incidents.ts';

/** Something that should have moved on by now. */
export type Overdue = Omit<NewIncident, 'type' | 'dedupeBy'>;

/** Lists overdue subjects at a time; each kind of subject has one. */
export type OverdueSource = (services: Services, now: Date) => Promise<Overdue[]>;

/** Opens `workflow_stuck` for overdue subjects and closes it when they have progressed. */
export function watchDeadlines(sources: readonly OverdueSource[]): Tick<Services> {
  return {
    name: 'incidents.watch_deadlines',
    everySeconds: 15,
    catchUp: 'skip',
    run: (services) => watch(services, sources),
  };
}

async function watch(services: Services, sources: readonly OverdueSource[]): Promise<void> {
  const now = services.clock.now();
  const overdue = (await Promise.all(sources.map((source) => source(services, now)))).flat();
  await services.db
    .transaction()
    .execute((tx) => syncIncidents(tx, now, 'workflow_stuck', overdue, 'It moved on.'));
}
