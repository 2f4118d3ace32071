import type { FastifyRequest } from 'fastify';
import { auditActor } from '../../../../platform/audit/actor.ts';
import { recordAudit, type AuditEntry } from '../../../../platform/audit/record.ts';
import type { Caller } from '../../../../platform/auth/caller.ts';
import type { Tx } from '../../../../platform/db/database.ts';
import type { Repository } from './repositories.ts';

/** The audit row of a change, in its transaction. Blobs alone change nothing that anybody runs. */
export async function auditChange(
  tx: Tx,
  request: FastifyRequest,
  caller: Caller,
  repository: Repository,
  change: Pick<AuditEntry, 'action' | 'before' | 'after' | 'detail'>,
): Promise<void> {
  await recordAudit(tx, {
    actorUserId: caller.actorId,
    ...auditActor(caller, request),
    actorRole: caller.role,
    targetType: 'registry_repository',
    targetId: repository.id,
    organizationId: repository.organizationId,
    result: 'succeeded',
    correlationId: request.id,
    ...change,
    detail: { path: repository.path, ...change.detail },
  });
}
