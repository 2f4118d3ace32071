import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { syncIncidents } from '../../incidents/sync-incidents.ts';
import { findLostMachines, readActiveMachines } from './find-lost-machines.ts';
import { findLostNetworks } from './find-lost-networks.ts';
import { findOrphans } from './find-orphans.ts';
import { findSlotDrift } from './find-slot-drift.ts';
import { recoverAbandonedAllocations } from './recover-abandoned-allocations.ts';
import { notifyHostChanges } from './notify-host-changes.ts';

/**
 * Compares allocations and slots with hosts' reports and workflows. It starts workflows that can repair a
 * fault; other faults become incidents, which close automatically when the evidence disappears.
 */
export const reconcileAllocations: Tick<Services> = {
  name: 'allocations.reconcile',
  everySeconds: 5,
  catchUp: 'skip',
  async run(services) {
    const { db, clock } = services;
    await db.transaction().execute((tx) => notifyHostChanges(services, tx));
    await db.transaction().execute((tx) => recoverAbandonedAllocations(services, tx));
    await db.transaction().execute(async (tx) => {
      const now = clock.now();
      const machines = await readActiveMachines(tx);
      await syncIncidents(
        tx,
        now,
        'allocation_machine_lost',
        findLostMachines(services, machines),
        'The machine runs again or was released.',
      );
      await syncIncidents(
        tx,
        now,
        'allocation_network_lost',
        findLostNetworks(services, machines),
        'The machine has its address or was released.',
      );
      const orphans = await findOrphans(services, tx);
      await syncIncidents(tx, now, 'node_orphans', orphans, 'The host no longer reports it.');
      const drift = await findSlotDrift(tx);
      await syncIncidents(tx, now, 'slot_drift', drift, 'Slot and claims agree.');
    });
  },
};
