import { parseTaskOutput } from '@gpuaas/contracts/tasks';
import { transitionNodeSlots } from '../../fleet/slots/transition-slots.ts';
import { openIncident } from '../../incidents/open-incident.ts';
import { buildDeprovisionTask, recordHostCleanup, reportHostBlocked } from '../cleanup/host-cleanup.ts';
import { hostUsername } from '../connection/host-username.ts';
import { hostOf } from '../transition-allocation.ts';
import { grantRoot } from '../root/grant-root.ts';
import type { Shape } from './shape.ts';

/** A login on a whole host. */
export const baremetal: Shape = {
  namePrefix: 'node',
  claimed: () => [null],
  // Of whole nodes there is mostly one size, and slices may well be free: nothing is said of either.
  noRoom: (gpus, largest) =>
    [`No whole node with ${gpus} is available right now.`, largest].filter(Boolean).join(' '),
  ingressRefusal: 'A whole host has its own addresses; only slices get public ones.',
  userDataRefusal: 'A whole host is leased as it runs; only slices boot with user-data.',
  attestedBy: 'host',
  // The statement that ends claims locks quota counters in one order, and hosts and slots need two statements.
  isRecordedAlone: true,

  async provisionTask(services, tx, allocation, keys) {
    const root = await grantRoot(services, tx, allocation);
    return {
      kind: 'allocation.provision_user',
      params: {
        allocation_id: allocation.id,
        hostname: allocation.name,
        username: hostUsername(allocation.id),
        ssh_authorized_keys: keys,
        // Agents of older releases do not know the word.
        ...(root ? { root } : {}),
      },
    };
  },
  delivery(allocation, output) {
    const host = parseTaskOutput('allocation.provision_user', output);
    return {
      connection: {
        username: hostUsername(allocation.id),
        host_key_fingerprint: host.host_key_fingerprint,
        host_public_key: host.host_public_key ?? null,
        mac: '',
        expected_ip: host.address ?? '',
        actual_ip: host.address,
        lease_state: 'bound',
      },
      bootId: host.boot_id,
      startedAt: host.started_at,
    };
  },
  async occupy(tx, allocation, health) {
    await baremetal.moveHeld(tx, allocation, { to: 'reserved' });
    await baremetal.moveHeld(tx, allocation, { to: 'in_use', health });
  },
  moveHeld: (tx, allocation, move) => transitionNodeSlots(tx, hostOf(allocation), move),
  // The user that the lease made, and its files.
  ownDataOnly: true,
  cleanupTask: (services, _, allocation) => Promise.resolve(buildDeprovisionTask(services, allocation)),
  async recordCleanups(services, tx, evidence) {
    for (const { allocation, result } of evidence) await recordHostCleanup(services, tx, allocation, result);
  },
  reportBlocked: reportHostBlocked,
  async reportLeftBehind(services, tx, allocation, reason) {
    await openIncident(tx, services.clock.now(), {
      type: 'host_cleanup_blocked',
      targetType: 'node',
      targetId: hostOf(allocation),
      summary: 'The host is quarantined: its baremetal lease was released without it.',
      detail: { allocation_id: allocation.id, reason },
    });
  },
};
