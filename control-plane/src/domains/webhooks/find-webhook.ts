import type { Selectable } from 'kysely';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Webhooks } from '../../platform/db/generated/schema.ts';
import { notFound } from '../../platform/http/problem.ts';

export type WebhookRow = Selectable<Webhooks>;

/** A webhook the caller may act on; anything else looks like a missing one. */
export async function findWebhook(
  db: Db | Tx,
  caller: Caller,
  permission: Permission,
  webhookId: string,
  options: { lock?: boolean } = {},
): Promise<WebhookRow> {
  const row = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', webhookId)
    .$if(options.lock ?? false, (q) => q.forUpdate())
    .executeTakeFirst();
  if (!row) throw notFound();
  authorize(caller, permission, {
    kind: 'project',
    organizationId: row.organization_id,
    projectId: row.project_id,
  });
  return row;
}
