import type { components } from '@gpuaas/sdk/contract';
import type { Operation } from '@gpuaas/sdk/operations';
import { unwrap } from '@gpuaas/sdk/problem';
import { waitForApp } from '../apps/wait-for-app.ts';
import { waitForWipe } from '../fleet/wait-for-wipe.ts';
import { waitForConversion } from '../fleet/wait-for-conversion.ts';
import { waitForTask } from '../fleet/wait-for-task.ts';
import { followAllocation } from '../follow-allocation.ts';
import { pollUntil } from '../poll-until.ts';
import type { Session } from '../session.ts';
import {
  waitForDelivery,
  waitForIngress,
  waitForOnboarding,
  waitForPayment,
  waitForSmokeRun,
} from './wait-for-states.ts';

type Schemas = components['schemas'];
type Waiter = (session: Session, answer: never, operation: Operation) => Promise<unknown>;

/** How to await the end of accepted work, by the schema of the response. */
const WAITERS: Record<string, Waiter> = {
  Allocation: (session, { id }: Schemas['Allocation'], operation) =>
    operation.path.includes('/admin/')
      ? awaitAdminRelease(session, id)
      : followAllocation(session, id, operation.id === 'createAllocation' ? 'active' : 'released'),
  NodeTask: (session, task: Schemas['NodeTask']) => waitForTask(session, task.id),
  NodeConversion: (session, conversion: Schemas['NodeConversion']) => waitForConversion(session, conversion),
  BlockedSlot: (session, { slot }: Schemas['BlockedSlot']) => waitForWipe(session, slot),
  Ingress: (session, ingress: Schemas['Ingress']) => waitForIngress(session, ingress),
  NodeOnboarding: (session, onboarding: Schemas['NodeOnboarding']) => waitForOnboarding(session, onboarding),
  AppInstance: (session, instance: Schemas['AppInstance'], operation) =>
    waitForApp(session, instance, operation.id === 'createAppInstance' ? 'started' : 'ended'),
  AppArtifact: (session, artifact: Schemas['AppArtifact']) => waitForSmokeRun(session, artifact),
  Payment: (session, payment: Schemas['Payment']) => waitForPayment(session, payment),
  WebhookDelivery: (session, delivery: Schemas['WebhookDelivery']) => waitForDelivery(session, delivery),
};

/** Operations that are accepted for later but have no `--wait`, each with the reason. */
export const NOT_AWAITED: Readonly<Record<string, string>> = {
  retryCleanups: 'many wipes that end one by one: see admin unblock',
  refundPayment: 'a bank may take days',
  retryParkedEvent:
    'its consumer tries within seconds and parks it again if it fails: see admin parked-events list',
};

export function canWait({ id, accepted }: Operation): boolean {
  return accepted !== undefined && !Object.hasOwn(NOT_AWAITED, id) && Object.hasOwn(WAITERS, accepted);
}

export async function waitForOperation(
  session: Session,
  operation: Operation,
  answer: unknown,
): Promise<unknown> {
  return await WAITERS[operation.accepted!]!(session, answer as never, operation);
}

/** Operators see allocations of all tenants, in their own place. */
async function awaitAdminRelease({ client }: Session, id: string): Promise<Schemas['Allocation']> {
  const params = { path: { allocation_id: id } };
  const { allocation } = await pollUntil({
    poll: () => unwrap(client.GET('/api/v1/admin/allocations/{allocation_id}', { params })),
    isSettled: (detail) => ['released', 'release_failed'].includes(detail.allocation.state),
    goesOn: `The cleanup continues: gpuaas admin allocations get ${id}`,
  });
  if (allocation.state === 'release_failed')
    throw new Error(`release failed again: ${allocation.failure?.detail ?? 'no reason given'}`);
  return allocation;
}
