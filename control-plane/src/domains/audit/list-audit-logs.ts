import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';

type AuditLog = components['schemas']['AuditLog'];
type Filters = NonNullable<operations['listAuditLogs']['parameters']['query']>;

/** Newest first. Ids are made when a row is, so they keep the order of time. */
export async function listAuditLogs(
  tx: Tx,
  filters: Filters & { limit: number },
): Promise<{ items: AuditLog[]; next_page: string | null }> {
  const before = decodePage(filters.page, ['uuid']);
  const rows = await tx
    .selectFrom('audit_logs')
    .selectAll()
    .$if(filters.organization_id !== undefined, (q) =>
      q.where('organization_id', '=', filters.organization_id!),
    )
    .$if(filters.actor_id !== undefined, (q) => q.where('actor_user_id', '=', filters.actor_id!))
    .$if(filters.action !== undefined, (q) => q.where('action', '=', filters.action!))
    .$if(filters.target_type !== undefined, (q) => q.where('target_type', '=', filters.target_type!))
    .$if(filters.target_id !== undefined, (q) => q.where('target_id', '=', filters.target_id!))
    .$if(filters.result !== undefined, (q) => q.where('result', '=', filters.result!))
    .$if(filters.correlation_id !== undefined, (q) => q.where('correlation_id', '=', filters.correlation_id!))
    .$if(filters.since !== undefined, (q) => q.where('occurred_at', '>=', new Date(filters.since!)))
    .$if(filters.until !== undefined, (q) => q.where('occurred_at', '<', new Date(filters.until!)))
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(filters.limit + 1)
    .execute();
  const page = pageOf(rows, filters.limit, (row) => [row.id]);
  const items = page.rows.map((row) => ({
    id: row.id,
    occurred_at: row.occurred_at.toISOString(),
    actor_id: row.actor_user_id,
    actor_kind: row.actor_kind as AuditLog['actor_kind'],
    actor_role: row.actor_role,
    credential_id: row.credential_id,
    ip: row.ip,
    action: row.action,
    target_type: row.target_type,
    target_id: row.target_id,
    result: row.result as AuditLog['result'],
    correlation_id: row.correlation_id,
    organization_id: row.organization_id,
    before: row.before as AuditLog['before'],
    after: row.after as AuditLog['after'],
    detail: row.detail as AuditLog['detail'],
  }));
  return { items, next_page: page.next_page };
}
