import type { FastifyRequest } from 'fastify';
import { actorOf } from '../audit/actor.ts';
import { recordAudit, type AuditEntry } from '../audit/record.ts';
import type { Db } from '../db/database.ts';
import { inScope, type Scope } from '../db/scope.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { CallerIdentity } from './caller-identity.ts';
import type { CredentialRefused } from './credential-refused.ts';
import type { OperationObject } from './operation.ts';
import { Problem } from './problem.ts';
import { RateLimiter } from './rate-limits.ts';

/** Per credential or caller, and operation: the first few tell the story, and nobody can fill the log with the rest. */
const KEPT = { burst: 10, perSecond: 1 / 60 };

/** Audit rows of attempts that were denied before or without a mutation, which keeps its own. */
export class DenialLog {
  readonly #db: Db;
  readonly #log: Logger;
  readonly #limiter = new RateLimiter('denials', () => KEPT);

  constructor({ db, log }: { db: Db; log: Logger }) {
    this.#db = db;
    this.#log = log;
  }

  /** A credential that was revoked, has expired, or may not be used for this. */
  async credential(request: FastifyRequest, operation: OperationObject, problem: CredentialRefused) {
    const { refused, code, reason } = problem;
    await this.#record({ role: 'gpuaas_auth' }, request, operation, {
      ...refused,
      ip: request.ip,
      detail: { code, reason },
    });
  }

  /** A read for which the caller lacks the permission. */
  async read(request: FastifyRequest, operation: OperationObject, caller: CallerIdentity, error: unknown) {
    if (operation['x-audit'] || !(error instanceof Problem) || error.status !== 403) return;
    const [only, ...others] = caller.scope.organizationIds ?? [];
    await this.#record(caller.scope, request, operation, {
      actorUserId: caller.actorId,
      ...actorOf(caller, request),
      actorRole: caller.role,
      organizationId: only !== undefined && others.length === 0 ? only : null,
      detail: { code: error.code, ...(request.params as object) },
    });
  }

  async #record(
    scope: Scope,
    request: FastifyRequest,
    operation: OperationObject,
    entry: Omit<AuditEntry, 'action' | 'targetType' | 'targetId' | 'result' | 'correlationId'>,
  ): Promise<void> {
    const key = `${entry.actorUserId} ${entry.credentialId} ${operation.operationId}`;
    if (this.#limiter.take(key).retryAfterSeconds !== null) return;
    try {
      await inScope(this.#db, scope, (tx) =>
        recordAudit(tx, {
          ...entry,
          action: actionOf(operation),
          targetType: 'operation',
          targetId: operation.operationId,
          result: 'denied',
          correlationId: request.id,
        }),
      );
    } catch (failure) {
      this.#log.error({ err: failure, correlation_id: request.id }, 'a denied attempt could not be audited');
    }
  }
}

function actionOf({ operationId, ...operation }: OperationObject): string {
  const permission = operation['x-permission'];
  return operation['x-audit'] ?? (permission === 'self' ? undefined : permission) ?? operationId;
}
