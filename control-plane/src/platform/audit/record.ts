import type { Db, Tx } from '../db/database.ts';
import { newId } from '../ids.ts';

export interface AuditEntry {
  actorUserId: string | null;
  actorRole: string;
  action: string;
  targetType: string;
  targetId: string;
  result: 'succeeded' | 'refused' | 'denied' | 'failed';
  correlationId: string;
  organizationId?: string | null;
  detail?: Record<string, unknown>;
}

/** One immutable row; pass the transaction of the mutation so that both stand or fall together. */
export async function recordAudit(db: Db | Tx, entry: AuditEntry): Promise<void> {
  await db
    .insertInto('audit_logs')
    .values({
      id: newId(),
      actor_user_id: entry.actorUserId,
      actor_role: entry.actorRole,
      action: entry.action,
      target_type: entry.targetType,
      target_id: entry.targetId,
      result: entry.result,
      correlation_id: entry.correlationId,
      organization_id: entry.organizationId ?? null,
      detail: JSON.stringify(entry.detail ?? {}),
    })
    .execute();
}
