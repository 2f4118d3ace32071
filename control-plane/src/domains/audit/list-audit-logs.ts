import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { fromCursor, given } from '../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';

type AuditLog = components['schemas']['AuditLog'];
type Filters = NonNullable<operations['listAuditLogs']['parameters']['query']>;

/** Newest first. Ids are made when a row is, so they keep the order of time. */
export async function listAuditLogs(tx: Tx, filters: Filters & { limit: number }): Promise<Page<AuditLog>> {
  const before = decodePage(filters.page, ['uuid']);
  const rows = await tx
    .selectFrom('audit_logs')
    .selectAll()
    .$call(
      given(filters.organization_id, (q, organizationId) => q.where('organization_id', '=', organizationId)),
    )
    .$call(given(filters.actor_id, (q, actorId) => q.where('actor_user_id', '=', actorId)))
    .$call(given(filters.action, (q, action) => q.where('action', '=', action)))
    .$call(given(filters.target_type, (q, targetType) => q.where('target_type', '=', targetType)))
    .$call(given(filters.target_id, (q, targetId) => q.where('target_id', '=', targetId)))
    .$call(given(filters.result, (q, result) => q.where('result', '=', result)))
    .$call(given(filters.correlation_id, (q, correlationId) => q.where('correlation_id', '=', correlationId)))
    .$call(given(filters.since, (q, since) => q.where('occurred_at', '>=', new Date(since))))
    .$call(given(filters.until, (q, until) => q.where('occurred_at', '<', new Date(until))))
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(filters.limit + 1)
    .execute();
  const page = toPage(rows, filters.limit, (row) => [row.id]);
  const items = page.rows.map((row) => ({
    id: row.id,
    occurred_at: row.occurred_at.toISOString(),
    actor_id: row.actor_user_id,
    actor_kind: row.actor_kind,
    actor_role: row.actor_role,
    credential_id: row.credential_id,
    ip: row.ip,
    action: row.action,
    target_type: row.target_type,
    target_id: row.target_id,
    result: row.result,
    correlation_id: row.correlation_id,
    organization_id: row.organization_id,
    before: row.before,
    after: row.after,
    detail: row.detail,
  }));
  return { items, next_page: page.next_page };
}
