import type { Selectable } from 'kysely';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { requireInProject, type Caller } from '../../platform/auth/caller.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Webhooks } from '../../platform/db/generated/schema.ts';

export type WebhookRow = Selectable<Webhooks>;

/** A webhook that the caller may act on; any other one is answered like a missing one. */
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
  return requireInProject(caller, permission, row);
}
