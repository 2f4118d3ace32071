import { isIP } from 'node:net';
import { sanitize } from '@gpuaas/contracts/sanitize';
import { sql, type RawBuilder } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import { newId } from '../ids.ts';

export type ActorKind = 'user' | 'service_account' | 'node' | 'system' | 'anonymous';

export interface AuditEntry {
  /** A user or a service account; null for hosts, the platform itself and unknown callers. */
  actorUserId: string | null;
  actorKind?: ActorKind;
  actorRole: string;
  /** Which of the actor's credentials it was, by its id or a part of its hash; never the secret. */
  credentialId?: string | null;
  ip?: string | null;
  action: string;
  targetType: string;
  targetId: string;
  result: 'succeeded' | 'refused' | 'denied' | 'failed';
  correlationId: string;
  organizationId?: string | null;
  /** Summary of the target before and after the change; not a copy. */
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
  detail?: Record<string, unknown>;
}

/** One immutable row; pass the transaction of the mutation so that both stand or fall together. */
export async function recordAudit(db: Db | Tx, entry: AuditEntry): Promise<void> {
  await recordAudits(db, [entry]);
}

/** Many rows in one statement, for mutations that commit together. */
export async function recordAudits(db: Db | Tx, entries: readonly AuditEntry[]): Promise<void> {
  await sql`
    insert into audit_logs (id, actor_user_id, actor_kind, actor_role, credential_id, ip, action, target_type, target_id,
      result, correlation_id, organization_id, before, after, detail)
    select id, actor_user_id, actor_kind, actor_role, credential_id, ip, action, target_type, target_id,
      result, correlation_id, organization_id, before, after, detail
    from json_populate_recordset(null::audit_logs, ${JSON.stringify(entries.map(auditRow))})`.execute(db);
}

/**
 * SQL fragment that records audit rows inside another statement; only for callers with one role, because it
 * keeps its plan.
 */
export function recordAuditsSql(entries: readonly AuditEntry[]): RawBuilder<void> {
  return sql`record_audits(${auditRows(entries)})`;
}

/** The argument of `record_audits`. */
export function auditRows(entries: readonly AuditEntry[]): string {
  return JSON.stringify(entries.map(auditRow));
}

function auditRow(entry: AuditEntry) {
  return {
    id: newId(),
    actor_user_id: entry.actorUserId,
    actor_kind: entry.actorKind ?? (entry.actorUserId === null ? 'system' : 'user'),
    actor_role: entry.actorRole,
    credential_id: entry.credentialId ?? null,
    // A proxy may name anything; a row without an address is better than no row.
    ip: isIP(entry.ip ?? '') ? entry.ip : null,
    action: entry.action,
    target_type: entry.targetType,
    target_id: entry.targetId,
    result: entry.result,
    correlation_id: entry.correlationId,
    organization_id: entry.organizationId ?? null,
    before: entry.before ? sanitize(entry.before) : null,
    after: entry.after ? sanitize(entry.after) : null,
    detail: sanitize(entry.detail ?? {}),
  };
}
