import type { QueryKey } from '@tanstack/react-query';
import type { EventEnvelope } from '@gpuaas/sdk/events';
import {
  allocationKeys,
  catalogKeys,
  fleetKeys,
  operatorKeys,
  organizationKeys,
  ownKeys,
} from '../api/query-keys.ts';

/** Which cached answers an event makes out of date. */
export function touchedKeys(event: EventEnvelope): QueryKey[] {
  const { allocation_id: allocationId, node_id: nodeId, organization_id: organizationId } = event.payload;
  const keys: QueryKey[] = event.event_type === 'notification.created' ? [ownKeys.notifications] : [];
  // Progress changes nothing but the timeline, which takes it from the event itself.
  if (typeof allocationId === 'string' && event.event_type !== 'allocation.progress') {
    keys.push(
      allocationKeys.lists,
      allocationKeys.one(allocationId),
      allocationKeys.connection(allocationId),
      allocationKeys.wipes(allocationId),
      allocationKeys.hostCleanups(allocationId),
      catalogKeys.skus,
      operatorKeys.allocations,
    );
  }
  if (typeof organizationId === 'string' && /^(payments|billing)\./.test(event.event_type)) {
    keys.push(
      organizationKeys.spend(organizationId),
      organizationKeys.payments(organizationId),
      organizationKeys.ledger(organizationId),
      organizationKeys.budgets(organizationId),
    );
  }
  if (event.event_type === 'node.onboarding_changed') {
    keys.push(operatorKeys.onboardings, operatorKeys.maasMachines);
  }
  if (typeof nodeId === 'string') keys.push(...nodeKeys(event.event_type, nodeId));
  return keys;
}

function nodeKeys(eventType: string, nodeId: string): QueryKey[] {
  switch (eventType) {
    case 'node.task_changed':
      return [
        fleetKeys.node(nodeId),
        fleetKeys.tasks(nodeId),
        operatorKeys.tasks,
        fleetKeys.discovery(nodeId),
        fleetKeys.readiness(nodeId),
        fleetKeys.drift(nodeId),
        fleetKeys.disks(nodeId),
        fleetKeys.conversions(nodeId),
      ];
    case 'node.slots_changed':
      return [
        fleetKeys.nodes,
        operatorKeys.cleanup,
        fleetKeys.node(nodeId),
        fleetKeys.slots(nodeId),
        fleetKeys.drift(nodeId),
        fleetKeys.disks(nodeId),
        catalogKeys.skus,
      ];
    default:
      return [
        fleetKeys.nodes,
        operatorKeys.enrolments,
        fleetKeys.node(nodeId),
        fleetKeys.slots(nodeId),
        fleetKeys.burnIns(nodeId),
        fleetKeys.maintenance(nodeId),
        fleetKeys.conversions(nodeId),
      ];
  }
}
