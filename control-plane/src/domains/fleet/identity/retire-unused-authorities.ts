import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { distrustAuthority } from '../../../platform/keys/authorities.ts';
import { usageByAuthority } from './list-authorities.ts';
import { lockAuthorities } from './rotate-authority.ts';

/** A CA that was replaced goes when the last certificate and the last open enrolment of it have ended. */
export const retireUnusedAuthorities: Tick<Services> = {
  name: 'fleet.retire_unused_authorities',
  everySeconds: 60,
  catchUp: 'skip',
  async run({ db, clock, log }) {
    const now = clock.now();
    await db.transaction().execute(async (tx) => {
      await lockAuthorities(tx);
      const replaced = await tx
        .selectFrom('node_authorities')
        .select('id')
        .where('state', '=', 'trusted')
        .execute();
      if (replaced.length === 0) return;
      const dependants = await usageByAuthority(tx, now);
      for (const { id } of replaced.filter((authority) => !dependants.has(authority.id))) {
        await distrustAuthority(tx, id, now);
        log.info({ authority_id: id }, 'retired a CA without dependents');
      }
    });
  },
};
