import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { openIncident, resolveIncident } from '../incidents/open-incident.ts';
import { verifyQuotas } from './verify-quotas.ts';

const QUOTAS = { targetType: 'quotas', targetId: 'quotas' } as const;
const SHOWN = 20;

/** Recounts every quota from the live claims; an incident is open while a counter differs. */
export const watchQuotas: Tick<Services> = {
  name: 'quotas.watch',
  everySeconds: 300,
  catchUp: 'skip',
  async run({ db, clock, log }) {
    const faults = await verifyQuotas(db, SHOWN);
    if (faults.length > 0) log.error({ faults }, 'quota counters differ from live claims');
    await db.transaction().execute(async (tx) => {
      const [fault] = faults;
      if (!fault) {
        const incident = { type: 'quota_drift', targetId: QUOTAS.targetId } as const;
        await resolveIncident(tx, clock.now(), incident, 'Every counter equals the live claims.');
        return;
      }
      await openIncident(tx, clock.now(), {
        ...QUOTAS,
        type: 'quota_drift',
        summary: `${faults.length} quota counters differ from the live claims, first ${fault.measure} of ${fault.holderType} ${fault.holderId}.`,
        detail: {
          faults: faults.map(({ counted, held, ...counter }) => ({
            ...counter,
            counted: String(counted),
            held: String(held),
          })),
        },
      });
    });
  },
};
