import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { permissionsAt, type Caller } from '../../platform/auth/caller.ts';
import { resourceName } from '../../platform/ids.ts';
import type { WebhookRow } from './find-webhook.ts';

type Webhook = components['schemas']['Webhook'];

/** URLs often carry a secret in path or query; the rest shows people where events go. */
export function maskedUrl(url: string): string {
  return `${new URL(url).origin}/***`;
}

/** The webhook as the caller may see it: the whole URL needs the permission to change it. */
export function describeWebhookFor(caller: Caller, row: WebhookRow, now: Date): Webhook {
  const shown = describeWebhook(row, now);
  const scope = { kind: 'project', organizationId: row.organization_id, projectId: row.project_id } as const;
  return permissionsAt(caller.bindings, scope).has('webhook.manage')
    ? shown
    : { ...shown, url: maskedUrl(row.url) };
}

export function describeWebhook(row: WebhookRow, now: Date): Webhook {
  const overlap = row.previous_secret_expires_at;
  return {
    id: row.id,
    resource_name: resourceName({
      region: 'global',
      organizationId: row.organization_id,
      projectId: row.project_id,
      resourceType: 'webhook',
      resourceId: row.id,
    }),
    organization_id: row.organization_id,
    project_id: row.project_id,
    url: row.url,
    description: row.description,
    event_types: row.event_types,
    state: row.state,
    disabled_reason: row.disabled_reason,
    failing_since: row.failing_since?.toISOString() ?? null,
    previous_secret_expires_at: overlap && overlap > now ? overlap.toISOString() : null,
    created_at: row.created_at.toISOString(),
  };
}
