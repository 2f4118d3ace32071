import type { components } from '@gpuaas/sdk/contract';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';
import { pollUntil } from '../poll-until.ts';
import type { Session } from '../session.ts';

type Schemas = components['schemas'];
type Client = Pick<Session, 'client'>;

/** Waits until the host leads the port to the machine, or no longer does. */
export async function waitForIngress(
  { client }: Client,
  asked: Schemas['Ingress'],
): Promise<Schemas['Ingress']> {
  const path = { allocation_id: asked.allocation_id };
  return await pollUntil({
    poll: async () => {
      const { items } = await unwrap(
        client.GET('/api/v1/allocations/{allocation_id}/ingress', { params: { path } }),
      );
      // A port that leads nowhere any longer is not listed.
      return items.find(({ id }) => id === asked.id) ?? { ...asked, state: 'detached' as const };
    },
    isSettled: ({ state }) => state === 'attached' || state === 'detached',
    goesOn: `The host follows: gpuaas allocations ingress list ${asked.allocation_id}`,
  });
}

/** Waits until a payment has succeeded or failed; somebody may have to pay first. */
export async function waitForPayment(
  { client }: Client,
  { id }: Schemas['Payment'],
): Promise<Schemas['Payment']> {
  const params = { path: { payment_id: id } };
  const payment = await pollUntil({
    poll: () => unwrap(client.GET('/api/v1/billing/payments/{payment_id}', { params })),
    isSettled: ({ state }) => !['created', 'open', 'processing'].includes(state),
    goesOn: `The payment stays open: gpuaas billing payments get ${id}`,
  });
  if (payment.state !== 'succeeded')
    throw new Error(`payment ${payment.state}: ${payment.failure?.detail ?? 'no reason given'}`);
  return payment;
}

/** Waits until the smoke run of an artifact has passed or failed. */
export async function waitForSmokeRun(
  { client }: Client,
  { digest }: Schemas['AppArtifact'],
): Promise<Schemas['AppArtifact']> {
  const params = { path: { artifact_digest: digest } };
  const artifact = await pollUntil({
    poll: () => unwrap(client.GET('/api/v1/admin/app-artifacts/{artifact_digest}', { params })),
    isSettled: ({ smoke_run: run }) => run?.state !== 'running',
    goesOn: `The smoke run goes on: gpuaas admin app-artifacts get ${digest}`,
  });
  const { smoke_run: run } = artifact;
  if (run?.state === 'failed') throw new Error(`smoke run failed: ${run.reason ?? ''} ${run.message}`);
  return artifact;
}

/** Waits until an event was delivered to a webhook, or given up. */
export async function waitForDelivery(
  { client }: Client,
  asked: Schemas['WebhookDelivery'],
): Promise<Schemas['WebhookDelivery']> {
  const path = { webhook_id: asked.webhook_id };
  const delivery = await pollUntil({
    poll: async () => {
      const deliveries = paginate((page) =>
        unwrap(
          client.GET('/api/v1/webhooks/{webhook_id}/deliveries', { params: { path, query: { ...page } } }),
        ),
      );
      for await (const one of deliveries) if (one.id === asked.id) return one;
      return asked;
    },
    isSettled: ({ state }) => state !== 'pending',
    goesOn: `It is tried again: gpuaas webhooks deliveries list ${asked.webhook_id}`,
  });
  if (delivery.state !== 'delivered')
    throw new Error(`delivery ${delivery.state}: ${delivery.attempts.at(-1)?.error ?? 'no reason given'}`);
  return delivery;
}

/** Waits until a machine of MAAS is a host, or is none after all. */
export async function waitForOnboarding(
  { client }: Client,
  { id }: Schemas['NodeOnboarding'],
): Promise<Schemas['NodeOnboarding']> {
  const params = { path: { onboarding_id: id } };
  const onboarding = await pollUntil({
    poll: () => unwrap(client.GET('/api/v1/admin/node-onboardings/{onboarding_id}', { params })),
    isSettled: ({ state }) => state !== 'running',
    goesOn: `The onboarding continues: gpuaas admin node-onboardings get ${id}`,
  });
  if (onboarding.state === 'failed')
    throw new Error(`onboarding failed: ${onboarding.detail ?? 'no reason given'}`);
  return onboarding;
}
