import { sql } from 'kysely';
import { tenantEventTypes } from '@gpuaas/contracts/events';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { findProject } from '../tenancy/projects/find-project.ts';
import type { WebhookRow } from './find-webhook.ts';
import { newSigningSecret } from './signature.ts';
import { checkUrl, TargetRefusedError, type TargetRules } from '../../platform/outbound/target.ts';
import { targetRules } from './target-rules.ts';

/** Ties a sealed secret to its webhook. */
export function secretContext(webhookId: string): string {
  return `webhook:${webhookId}`;
}

export async function createWebhook(
  services: Services,
  tx: Tx,
  caller: Caller,
  body: components['schemas']['CreateWebhook'],
): Promise<{ row: WebhookRow; secret: string }> {
  const project = await findProject(tx, caller, 'webhook.manage', body.project_id, { staysOpen: true });
  refuseUnknownTypes(body.event_types ?? []);
  const scope = { organizationId: project.organization_id };
  const url = acceptedUrl(body.url, targetRules(services.policies, scope.organizationId));
  await refuseTooMany(tx, project.id, services.policies.get('webhooks.max_per_project', scope));
  const id = newId();
  const secret = newSigningSecret();
  const row = await tx
    .insertInto('webhooks')
    .values({
      id,
      organization_id: project.organization_id,
      project_id: project.id,
      url,
      description: body.description ?? '',
      event_types: body.event_types ?? [],
      sealed_secret: services.sealer.seal('webhook_secret', secret, secretContext(id)),
      created_by: caller.id,
      owner_user_id: caller.userId,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { row, secret };
}

function acceptedUrl(text: string, rules: TargetRules): string {
  try {
    return checkUrl(text, rules).href;
  } catch (error) {
    if (!(error instanceof TargetRefusedError)) throw error;
    throw new Problem('webhook_url_refused', `The URL cannot be used: ${error.message}.`, {
      errors: [{ pointer: '/url', detail: error.message }],
    });
  }
}

function refuseUnknownTypes(types: string[]): void {
  const known: readonly string[] = tenantEventTypes;
  const errors = types
    .map((type, index) => ({ type, pointer: `/event_types/${index}` }))
    .filter(({ type }) => !known.includes(type))
    .map(({ type, pointer }) => ({ pointer, detail: `${type} is not an event of tenants` }));
  if (errors.length === 0) return;
  throw new Problem('webhook_event_type_unknown', 'Some event types do not exist or are not for tenants.', {
    errors,
    extensions: { known_event_types: known },
  });
}

async function refuseTooMany(tx: Tx, projectId: string, limit: number): Promise<void> {
  // Two concurrent creates must not both pass the limit. Both already hold a lock that keeps the project
  // open; a stronger lock on the same row would deadlock.
  await sql`select 1 from projects where id = ${projectId} for no key update`.execute(tx);
  const { count } = await tx
    .selectFrom('webhooks')
    .select((e) => e.fn.countAll<bigint>().as('count'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow();
  if (count < BigInt(limit)) return;
  throw new Problem('webhook_limit_reached', `A project may have ${limit} webhooks.`, {
    extensions: { limit, used: Number(count) },
  });
}
