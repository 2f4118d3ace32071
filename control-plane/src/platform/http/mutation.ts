import type { FastifyRequest } from 'fastify';
import { recordAudit, type AuditEntry } from '../audit/record.ts';
import { auditActor } from '../audit/actor.ts';
import type { Denials } from '../audit/denials.ts';
import type { Db, Tx } from '../db/database.ts';
import { inScope } from '../db/scope.ts';
import type { CallerIdentity } from './caller-identity.ts';
import type { CheckCreation } from './creation-limits.ts';
import {
  claimIdempotencyKey,
  hashRequest,
  serializeByKey,
  storeReply,
  type IdempotentRequest,
  type IdempotentReply,
  type StoredReply,
} from './idempotency.ts';
import type { AnyReply, AuditTarget, OperationObject } from './operation.ts';
import { Problem } from './problem.ts';

interface Mutation {
  db: Db;
  operation: OperationObject;
  caller: CallerIdentity;
  request: FastifyRequest;
  audited: { target?: AuditTarget };
  denials: Denials;
  checkCreation: CheckCreation | undefined;
}

/** One decision, one transaction: idempotency row, domain rows, audit row. */
export async function runMutation<R>(mutation: Mutation, decide: (tx: Tx) => Promise<R>): Promise<R> {
  const idempotent = idempotentRequest(mutation);
  return await accountFor(mutation, idempotent, () => decideOnce(mutation, idempotent, decide));
}

/** Rows that are committed with a mutation: the audit entry, and the reply of its idempotency key. */
export interface CommitExtras {
  audit(target: AuditTarget): AuditEntry;
  /** Null for a request without a key. */
  answer(reply: AnyReply): IdempotentReply | null;
}

/** A mutation that can share a transaction with others. */
export interface BatchableMutation<R> {
  /**
   * Decides it in a shared transaction, which writes its extras and also finds an earlier reply of its key. Null if it
   * must be decided individually.
   */
  inBatch(
    idempotent: IdempotentRequest | null,
    commitExtras: CommitExtras,
  ): Promise<{ kind: 'decided'; reply: R } | { kind: 'replay'; reply: StoredReply } | null>;
  individually(tx: Tx): Promise<R>;
}

/** Decides in a batch if possible, else in a transaction for this mutation only. */
export async function runBatchableMutation<R>(
  mutation: Mutation,
  batchable: BatchableMutation<R>,
): Promise<R> {
  const idempotent = idempotentRequest(mutation);
  const commitExtras: CommitExtras = {
    audit: (target) => auditEntry(mutation, 'succeeded', target),
    answer: ({ status, body, location, replayBody }) =>
      idempotent && {
        request: idempotent,
        reply: { status, body: replayBody ?? body, location: location ?? null },
      },
  };
  return await accountFor(mutation, idempotent, async () => {
    const result = await batchable.inBatch(idempotent, commitExtras);
    if (!result) return await decideOnce(mutation, idempotent, batchable.individually);
    return result.kind === 'replay' ? (replay(mutation, result.reply) as R) : result.reply;
  });
}

/** Runs requests with one key serially, and audits a refusal. */
async function accountFor<R>(
  mutation: Mutation,
  idempotent: IdempotentRequest | null,
  transact: () => Promise<R>,
): Promise<R> {
  try {
    return await (idempotent ? serializeByKey(idempotent, transact) : transact());
  } catch (error) {
    if (mutation.operation['x-audit']) await recordRefusal(mutation, error);
    throw error;
  }
}

async function decideOnce<R>(
  mutation: Mutation,
  idempotent: IdempotentRequest | null,
  decide: (tx: Tx) => Promise<R>,
): Promise<R> {
  return await inScope(mutation.db, mutation.caller.scope, async (tx) => {
    const stored = idempotent && (await claimIdempotencyKey(tx, idempotent));
    if (stored) return replay(mutation, stored) as R;
    const reply = await decide(tx);
    const { status, body, location, replayBody, unchanged = false } = reply as AnyReply;
    await requireRoom(tx, mutation);
    if (mutation.operation['x-audit'] && !unchanged) await recordAudit(tx, auditEntry(mutation, 'succeeded'));
    if (idempotent)
      await storeReply(tx, idempotent, { status, body: replayBody ?? body, location: location ?? null });
    return reply;
  });
}

async function requireRoom(tx: Tx, mutation: Mutation): Promise<void> {
  const limit = mutation.operation['x-limit'];
  if (!limit) return;
  const body = (mutation.request.body ?? {}) as Record<string, string | undefined>;
  await mutation.checkCreation?.(tx, limit, {
    caller: mutation.caller,
    target: mutation.audited.target,
    body,
  });
}

function replay(mutation: Mutation, { status, body, location }: StoredReply): AnyReply {
  mutation.caller.authorised = true;
  return { status, body, ...(location ? { location } : {}) };
}

async function recordRefusal(mutation: Mutation, error: unknown): Promise<void> {
  const problem = error instanceof Problem ? error : null;
  const result = !problem
    ? 'failed'
    : problem.status === 403 || problem.status === 404
      ? 'denied'
      : 'refused';
  const entry = auditEntry(mutation, result);
  const detail = { ...entry.detail, code: problem?.code ?? 'internal_error' };
  const organizationId = ownTenant(mutation.caller, entry.organizationId);
  await mutation.denials.record({ ...entry, organizationId, result, ip: mutation.request.ip, detail });
}

/** A caller cannot write into a tenant's log by naming the tenant. */
function ownTenant({ scope }: CallerIdentity, named: string | null | undefined): string | null {
  const isOwn = scope.role === 'gpuaas_operator' || scope.organizationIds?.includes(named ?? '');
  return isOwn ? (named ?? null) : null;
}

function auditEntry(
  mutation: Mutation,
  result: AuditEntry['result'],
  target = mutation.audited.target,
): AuditEntry {
  if (!target && result === 'succeeded') {
    throw new Error(`operation ${mutation.operation.operationId} named no audit target`);
  }
  return {
    actorUserId: mutation.caller.actorId,
    ...auditActor(mutation.caller, mutation.request),
    actorRole: mutation.caller.role,
    action: mutation.operation['x-audit']!,
    targetType: target?.targetType ?? 'unknown',
    targetId: target?.targetId ?? 'unknown',
    organizationId: target?.organizationId ?? null,
    result,
    correlationId: mutation.request.id,
    ...(target?.before ? { before: target.before } : {}),
    ...(target?.after ? { after: target.after } : {}),
    ...(target?.detail ? { detail: target.detail } : {}),
  };
}

function idempotentRequest({ operation, caller, request }: Mutation): IdempotentRequest | null {
  const key = request.headers['x-idempotency-key'];
  const declared = operation.parameters?.some(
    (p) => p.name === 'X-Idempotency-Key' || p.$ref?.endsWith('IdempotencyKey'),
  );
  if (typeof key !== 'string' || !declared) return null;
  return {
    callerId: caller.id,
    key,
    operation: operation.operationId,
    // A streamed body is named by its digest in the path.
    requestHash: hashRequest(
      operation.operationId,
      request.params,
      operation['x-max-stream-bytes'] === undefined ? request.body : null,
    ),
  };
}
