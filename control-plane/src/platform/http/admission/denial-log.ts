import type { FastifyRequest } from 'fastify';
import { auditActor } from '../../audit/actor.ts';
import type { Denials, DeniedEntry } from '../../audit/denials.ts';
import type { CallerIdentity } from '../caller-identity.ts';
import type { CredentialRefusedError } from './credential-refused.ts';
import type { OperationObject } from '../operation.ts';
import { Problem } from '../problem.ts';

/** Audits attempts that were denied outside a mutation; a mutation writes its own row. */
export class DenialLog {
  readonly #denials: Denials;

  constructor(denials: Denials) {
    this.#denials = denials;
  }

  /** A credential that was revoked, has expired, or may not be used for this. */
  async credential(request: FastifyRequest, operation: OperationObject, problem: CredentialRefusedError) {
    const { refused, code, reason } = problem;
    await this.#record(request, operation, { ...refused, detail: { code, reason } });
  }

  /** A read for which the caller lacks the permission. */
  async read(request: FastifyRequest, operation: OperationObject, caller: CallerIdentity, error: unknown) {
    if (!operation['x-audit']) await this.unpermitted(request, operation, caller, error);
  }

  /** The missing permission of an error; null if the error is no denial. */
  async unpermitted(
    request: FastifyRequest,
    operation: OperationObject,
    caller: CallerIdentity,
    error: unknown,
  ) {
    if (!(error instanceof Problem) || error.status !== 403) return;
    const [only, ...others] = caller.scope.organizationIds ?? [];
    const params = request.params as Record<string, string>;
    await this.#record(request, operation, {
      ...(operation['x-audit'] ? targetOf(params) : {}),
      actorUserId: caller.actorId,
      ...auditActor(caller, request),
      actorRole: caller.role,
      organizationId: only !== undefined && others.length === 0 ? only : null,
      detail: { code: error.code, ...params },
    });
  }

  async #record(
    request: FastifyRequest,
    operation: OperationObject,
    entry: Omit<DeniedEntry, 'action' | 'targetType' | 'targetId' | 'result' | 'correlationId' | 'ip'> &
      Partial<Pick<DeniedEntry, 'action' | 'targetType' | 'targetId'>>,
  ): Promise<void> {
    await this.#denials.record({
      action: actionOf(operation),
      targetType: 'operation',
      targetId: operation.operationId,
      ...entry,
      ip: request.ip,
      result: 'denied',
      correlationId: request.id,
    });
  }
}

/** The audit row of a refused credential, with what the credential shows. */
export function denialOf({ refused, code, reason }: CredentialRefusedError) {
  const nothing = { action: 'credential.use', targetType: 'operation', targetId: 'unknown' };
  return { ...nothing, ...refused, result: 'denied', detail: { code, reason } } as const;
}

/** A path ends with the target of a mutation: `/nodes/{node_id}/resource-slots/{slot_id}` with a slot. */
function targetOf(params: Record<string, string>): Pick<DeniedEntry, 'targetType' | 'targetId'> | null {
  const [name, targetId] = Object.entries(params).at(-1) ?? [];
  return name && targetId ? { targetType: name.replace(/_id$/, ''), targetId } : null;
}

function actionOf({ operationId, ...operation }: OperationObject): string {
  const permission = operation['x-permission'];
  return operation['x-audit'] ?? (permission === 'self' ? undefined : permission) ?? operationId;
}
