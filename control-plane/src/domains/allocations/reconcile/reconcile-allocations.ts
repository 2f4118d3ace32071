import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { syncIncidents } from '../../incidents/sync-incidents.ts';
import { cleanRested } from './clean-rested.ts';
import { findLostMachines } from './find-lost-machines.ts';
import { findOrphans } from './find-orphans.ts';
import { findSlotDrift } from './find-slot-drift.ts';
import { restartAbandoned } from './restart-abandoned.ts';
import { watchHosts } from './watch-hosts.ts';

/**
 * Holds allocations and slots against what hosts report and what workflows do. What a workflow can repair is started
 * here; the rest becomes an incident, which closes by itself when the evidence does.
 */
export const reconcileAllocations: Tick<Services> = {
  name: 'allocations.reconcile',
  everySeconds: 5,
  catchUp: 'skip',
  async run(services) {
    const { db, clock } = services;
    await db.transaction().execute((tx) => watchHosts(services, tx));
    await db.transaction().execute((tx) => restartAbandoned(services, tx));
    await db.transaction().execute((tx) => cleanRested(services, tx));
    await db.transaction().execute(async (tx) => {
      const now = clock.now();
      const lost = await findLostMachines(services, tx);
      await syncIncidents(
        tx,
        now,
        'allocation_machine_lost',
        lost,
        'The machine runs again or was released.',
      );
      const orphans = await findOrphans(services, tx);
      await syncIncidents(tx, now, 'node_orphans', orphans, 'The host no longer reports it.');
      const drift = await findSlotDrift(tx);
      await syncIncidents(tx, now, 'slot_drift', drift, 'Slot and claims agree.');
    });
  },
};
