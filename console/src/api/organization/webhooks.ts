import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { projectKeys } from '../query-keys.ts';

export const webhooksQuery = (projectId: string) =>
  pagedQuery(projectKeys.webhooks(projectId), (page, signal) =>
    unwrap(client.GET('/api/v1/webhooks', { params: { query: { project_id: projectId, ...page } }, signal })),
  );

/** Attempts continue in the background without an event. */
const REFETCH_MS = 3_000;

export const deliveriesQuery = (webhookId: string) =>
  pagedQuery(
    projectKeys.deliveries(webhookId),
    (page, signal) =>
      unwrap(
        client.GET('/api/v1/webhooks/{webhook_id}/deliveries', {
          params: { ...at(webhookId), query: page },
          signal,
        }),
      ),
    REFETCH_MS,
  );

export interface NewWebhook {
  project_id: string;
  url: string;
  description?: string;
  event_types?: string[];
}

export function createWebhook(body: NewWebhook) {
  return unwrap(client.POST('/api/v1/webhooks', { body }));
}

export function deleteWebhook(id: string) {
  return unwrap(client.DELETE('/api/v1/webhooks/{webhook_id}', { params: at(id) }));
}

export function enableWebhook(id: string) {
  return unwrap(client.POST('/api/v1/webhooks/{webhook_id}/enable', { params: at(id) }));
}

export function rotateWebhookSecret(id: string) {
  return unwrap(client.POST('/api/v1/webhooks/{webhook_id}/rotate-secret', { params: at(id) }));
}

export function testWebhook(id: string) {
  return unwrap(client.POST('/api/v1/webhooks/{webhook_id}/test', { params: at(id) }));
}

export function replayDelivery({ webhookId, deliveryId }: { webhookId: string; deliveryId: string }) {
  return unwrap(
    client.POST('/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay', {
      params: { path: { webhook_id: webhookId, delivery_id: deliveryId } },
    }),
  );
}

function at(id: string) {
  return { path: { webhook_id: id } };
}
