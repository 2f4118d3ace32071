import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { incidentKey, openIncident, type NewIncident } from './open-incident.ts';

/** Something that should have moved on by now. */
export type Overdue = Omit<NewIncident, 'type' | 'dedupeBy'>;

/** Lists what is overdue at a time; each kind of thing has one. */
export type OverdueSource = (services: Services, now: Date) => Promise<Overdue[]>;

/** Opens `workflow_stuck` for what is overdue and closes it when the thing has moved on. */
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
  const type = 'workflow_stuck';
  await services.db.transaction().execute(async (tx) => {
    const open = await tx
      .selectFrom('incidents')
      .select(['id', 'dedupe_key'])
      .where('type', '=', type)
      .where('resolved_at', 'is', null)
      .execute();
    const known = new Set(open.map((incident) => incident.dedupe_key));
    const current = new Set(overdue.map((thing) => incidentKey({ ...thing, type })));
    for (const thing of overdue) {
      if (!known.has(incidentKey({ ...thing, type }))) await openIncident(tx, now, { ...thing, type });
    }
    const gone = open.filter((incident) => !current.has(incident.dedupe_key)).map((incident) => incident.id);
    if (gone.length === 0) return;
    await tx
      .updateTable('incidents')
      .set({ resolved_at: now, resolution: 'It moved on.' })
      .where('id', 'in', gone)
      .where('resolved_at', 'is', null)
      .execute();
  });
}
