import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { AuditTarget, Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { findProject } from '../tenancy/projects/find-project.ts';
import { createWebhook } from './create-webhook.ts';
import { describeDeliveries, type DeliveryRow } from './describe-delivery.ts';
import { describeWebhook, describeWebhookFor, maskedUrl } from './describe-webhook.ts';
import { enableWebhook } from './enable-webhook.ts';
import { findWebhook, type WebhookRow } from './find-webhook.ts';
import { listDeliveries } from './list-deliveries.ts';
import { listWebhooks } from './list-webhooks.ts';
import { replayDelivery } from './replay-delivery.ts';
import { rotateSecret } from './rotate-secret.ts';
import { sendTestEvent } from './send-test-event.ts';
import { first } from '../../platform/present.ts';

type WebhookOperations = Pick<
  operations,
  | 'listWebhooks'
  | 'createWebhook'
  | 'getWebhook'
  | 'deleteWebhook'
  | 'rotateWebhookSecret'
  | 'enableWebhook'
  | 'testWebhook'
  | 'listWebhookDeliveries'
  | 'replayWebhookDelivery'
>;

export function webhookRoutes(services: Services): Handlers<WebhookOperations, Caller> {
  const { clock } = services;
  const describe = (row: WebhookRow) => describeWebhook(row, clock.now());
  /** Finds a webhook to change and names it in the audit log. */
  const change = async (
    tx: Tx,
    context: { caller: Caller; params: { webhook_id: string }; audit(target: AuditTarget): void },
    permission: Permission = 'webhook.manage',
  ): Promise<WebhookRow> => {
    const row = await findWebhook(tx, context.caller, permission, context.params.webhook_id, { lock: true });
    context.audit({ targetType: 'webhook', targetId: row.id, organizationId: row.organization_id });
    return row;
  };
  const accepted = async (tx: Tx, row: DeliveryRow) =>
    ({ status: 202, body: first(await describeDeliveries(tx, [row]), 'delivery') }) as const;

  return {
    listWebhooks({ caller, query, read }) {
      return read(async (tx) => {
        await findProject(tx, caller, 'webhook.read', query.project_id);
        return { status: 200, body: await listWebhooks(tx, caller, clock.now(), query) };
      });
    },
    createWebhook({ caller, body, audit, mutate }) {
      audit({ targetType: 'project', targetId: body.project_id });
      return mutate(async (tx) => {
        const { row, secret } = await createWebhook(services, tx, caller, body);
        audit({
          targetType: 'webhook',
          targetId: row.id,
          organizationId: row.organization_id,
          detail: { url: maskedUrl(row.url), event_types: row.event_types },
        });
        return { status: 201, ...withSecret(describe(row), secret), location: `/api/v1/webhooks/${row.id}` };
      });
    },
    async getWebhook({ caller, params, read }) {
      const row = await read((tx) => findWebhook(tx, caller, 'webhook.read', params.webhook_id));
      return { status: 200, body: describeWebhookFor(caller, row, clock.now()) };
    },
    deleteWebhook(context) {
      context.audit({ targetType: 'webhook', targetId: context.params.webhook_id });
      return context.mutate(async (tx) => {
        const row = await change(tx, context);
        await tx.deleteFrom('webhooks').where('id', '=', row.id).execute();
        return { status: 204, body: undefined };
      });
    },
    rotateWebhookSecret(context) {
      context.audit({ targetType: 'webhook', targetId: context.params.webhook_id });
      return context.mutate(async (tx) => {
        const { row, secret } = await rotateSecret(services, tx, await change(tx, context));
        return { status: 200, ...withSecret(describe(row), secret) };
      });
    },
    enableWebhook(context) {
      context.audit({ targetType: 'webhook', targetId: context.params.webhook_id });
      return context.mutate(async (tx) => ({
        status: 200,
        body: describe(await enableWebhook(tx, await change(tx, context))),
      }));
    },
    testWebhook(context) {
      context.audit({ targetType: 'webhook', targetId: context.params.webhook_id });
      return context.mutate(async (tx) =>
        accepted(tx, await sendTestEvent(services, tx, await change(tx, context), context.correlationId)),
      );
    },
    listWebhookDeliveries({ caller, params, query, read }) {
      return read(async (tx) => {
        await findWebhook(tx, caller, 'webhook.read', params.webhook_id);
        return { status: 200, body: await listDeliveries(tx, params.webhook_id, query) };
      });
    },
    replayWebhookDelivery(context) {
      context.audit({ targetType: 'webhook', targetId: context.params.webhook_id });
      return context.mutate(async (tx) =>
        accepted(
          tx,
          await replayDelivery(services, tx, await change(tx, context), context.params.delivery_id),
        ),
      );
    },
  };
}

/** The caller gets the secret once; the reply stored for a replay does not contain it. */
function withSecret(webhook: components['schemas']['Webhook'], secret: string) {
  return {
    body: { webhook, secret },
    replayBody: { webhook, secret: null, secret_already_shown: true },
  };
}
