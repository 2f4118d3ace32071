import type { QueryKey } from '@tanstack/react-query';
import type { EventPayloads, EventType } from '@gpuaas/sdk/contract';
import type { EventEnvelope } from '@gpuaas/sdk/events';
import {
  allocationKeys,
  appKeys,
  catalogKeys,
  fleetKeys,
  operatorKeys,
  organizationKeys,
  projectKeys,
  userKeys,
} from '../api/query-keys.ts';

type Touched = { [Type in EventType]: (payload: EventPayloads[Type]) => QueryKey[] };

/** Which cached answers each event makes out of date. Every type of the contract has a line, even if it touches nothing. */
const touched: Touched = {
  'allocation.queued': allocation,
  'allocation.queue_moved': allocation,
  'allocation.extended': allocation,
  'allocation.ending': allocation,
  'allocation.idle': allocation,
  'allocation.reserved': allocation,
  // Comes with `allocation.reserved`.
  'provisioning.requested': () => [],
  'allocation.provisioning': allocation,
  // Comes many times in a launch and changes nothing but the steps.
  'allocation.progress': ({ allocation_id }) => [
    allocationKeys.timeline(allocation_id),
    operatorKeys.allocation(allocation_id),
  ],
  'allocation.active': allocation,
  'allocation.release_requested': allocation,
  'allocation.releasing': allocation,
  'allocation.released': allocation,
  'allocation.failed': allocation,
  'allocation.release_failed': allocation,
  'allocation.host_silent': allocation,
  'allocation.host_returned': allocation,
  'reservation.lapsed': ({ project_id }) => [projectKeys.reservations(project_id), operatorKeys.reservations],
  'service_account.rotation_due': ({ project_id }) => [projectKeys.serviceAccounts(project_id)],
  'service_account.tokens_revoked': ({ project_id }) => [projectKeys.serviceAccounts(project_id)],
  'maintenance.scheduled': allocation,
  'maintenance.cancelled': allocation,
  'node.changed': node,
  'node.enrolled': node,
  'node.onboarding_changed': () => [operatorKeys.onboardings, operatorKeys.maasMachines],
  'node.task_changed': ({ node_id }) => [
    fleetKeys.node(node_id),
    fleetKeys.tasks(node_id),
    operatorKeys.tasks,
    fleetKeys.discovery(node_id),
    fleetKeys.readiness(node_id),
    fleetKeys.drift(node_id),
    fleetKeys.disks(node_id),
    fleetKeys.conversions(node_id),
  ],
  'node.slots_changed': ({ node_id }) => [
    fleetKeys.nodes,
    operatorKeys.cleanup,
    fleetKeys.node(node_id),
    fleetKeys.slots(node_id),
    fleetKeys.drift(node_id),
    fleetKeys.disks(node_id),
    catalogKeys.skus,
  ],
  'project_secret.set': ({ project_id }) => [projectKeys.secrets(project_id)],
  'project_secret.deleted': ({ project_id }) => [projectKeys.secrets(project_id)],
  'app_instance.event': ({ app_instance_id, project_id }) => [
    appKeys.list(project_id),
    appKeys.one(app_instance_id),
    appKeys.members(app_instance_id),
    appKeys.events(app_instance_id),
    appKeys.targets,
  ],
  'webhook.test': ({ webhook_id }) => [projectKeys.deliveries(webhook_id)],
  'webhook.disabled': ({ project_id }) => [projectKeys.webhooks(project_id)],
  'billing.low_balance_warning': money,
  'billing.budget_threshold_reached': money,
  'billing.balance_exhausted': money,
  'billing.statement_closed': ({ organization_id }) => [
    ...money({ organization_id }),
    organizationKeys.statements(organization_id),
  ],
  'payments.balance_credited': money,
  'payments.payment_failed': money,
  'payments.refunded': money,
  'payments.dispute_opened': money,
  'payments.dispute_closed': money,
  'billing.leases_stopped': money,
  'incident.opened': () => [operatorKeys.incidents],
  'notification.created': () => [userKeys.notifications],
  'policy.changed': () => [operatorKeys.policies],
};

/** Which cached answers an event makes out of date; none if a newer server sends a type that this console does not know. */
export function queryKeysToRefresh({ event_type: type, payload }: EventEnvelope): QueryKey[] {
  if (!isKnown(type)) return [];
  // The server has checked the payload against the schema of its type.
  return touched[type](payload as never);
}

function isKnown(type: string): type is EventType {
  return Object.hasOwn(touched, type);
}

function allocation({ allocation_id }: { allocation_id: string }): QueryKey[] {
  return [
    allocationKeys.lists,
    allocationKeys.one(allocation_id),
    allocationKeys.timeline(allocation_id),
    allocationKeys.connection(allocation_id),
    allocationKeys.wipes(allocation_id),
    allocationKeys.hostCleanups(allocation_id),
    catalogKeys.skus,
    operatorKeys.allocations,
    appKeys.targets,
  ];
}

function node({ node_id }: { node_id: string }): QueryKey[] {
  return [
    fleetKeys.nodes,
    operatorKeys.enrolments,
    fleetKeys.node(node_id),
    fleetKeys.slots(node_id),
    fleetKeys.burnIns(node_id),
    fleetKeys.maintenance(node_id),
    fleetKeys.conversions(node_id),
  ];
}

function money({ organization_id }: { organization_id: string }): QueryKey[] {
  return [
    organizationKeys.spend(organization_id),
    organizationKeys.payments(organization_id),
    organizationKeys.ledger(organization_id),
    organizationKeys.budgets(organization_id),
  ];
}
