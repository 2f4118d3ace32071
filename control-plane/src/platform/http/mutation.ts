import type { FastifyRequest } from 'fastify';
import { recordAudit, type AuditEntry } from '../audit/record.ts';
import { actorOf } from '../audit/actor.ts';
import type { Db, Tx } from '../db/database.ts';
import { inScope } from '../db/scope.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { CallerIdentity } from './caller-identity.ts';
import {
  claimIdempotencyKey,
  hashRequest,
  inTurn,
  storeReply,
  type IdempotentRequest,
  type KeptAnswer,
  type StoredReply,
} from './idempotency.ts';
import type { AnyReply, AuditTarget, OperationObject } from './operation.ts';
import { Problem } from './problem.ts';

interface Mutation {
  db: Db;
  operation: OperationObject;
  caller: CallerIdentity;
  request: FastifyRequest;
  log: Logger;
  audited: { target?: AuditTarget };
}

/** One decision, one transaction: idempotency row, domain rows, audit row. */
export async function runMutation<R>(mutation: Mutation, decide: (tx: Tx) => Promise<R>): Promise<R> {
  const idempotent = idempotentRequest(mutation);
  return await accountFor(mutation, idempotent, () => decideOnce(mutation, idempotent, decide));
}

/** What else is written in the transaction that does what a request asked for. */
export interface Papers {
  audit(target: AuditTarget): AuditEntry;
  /** Null for a request without a key. */
  answer(reply: AnyReply): KeptAnswer | null;
}

/** How a mutation commits together with those of others. */
export interface Together<R> {
  /**
   * Hands it, with its key and its papers, to a transaction of many, which looks for an earlier answer to the key as well.
   * Null if it must be decided alone.
   */
  join(
    idempotent: IdempotentRequest | null,
    papers: Papers,
  ): Promise<{ reply: R } | { replay: StoredReply } | null>;
  alone(tx: Tx): Promise<R>;
}

/** The same for a mutation that can share a transaction with those of others. */
export async function runTogether<R>(mutation: Mutation, way: Together<R>): Promise<R> {
  const idempotent = idempotentRequest(mutation);
  const papers: Papers = {
    audit: (target) => auditEntry(mutation, 'succeeded', target),
    answer: ({ status, body, location, replayBody }) =>
      idempotent && {
        request: idempotent,
        reply: { status, body: replayBody ?? body, location: location ?? null },
      },
  };
  return await accountFor(mutation, idempotent, async () => {
    const joined = await way.join(idempotent, papers);
    if (!joined) return await decideOnce(mutation, idempotent, way.alone);
    return 'replay' in joined ? (replay(mutation, joined.replay) as R) : joined.reply;
  });
}

/** Requests with one key follow each other, and a refusal leaves its audit row. */
async function accountFor<R>(
  mutation: Mutation,
  idempotent: IdempotentRequest | null,
  transact: () => Promise<R>,
): Promise<R> {
  try {
    return await (idempotent ? inTurn(idempotent, transact) : transact());
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
    const { status, body, location, replayBody } = reply as AnyReply;
    if (mutation.operation['x-audit']) await recordAudit(tx, auditEntry(mutation, 'succeeded'));
    if (idempotent)
      await storeReply(tx, idempotent, { status, body: replayBody ?? body, location: location ?? null });
    return reply;
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
  try {
    const detail = { ...entry.detail, code: problem?.code ?? 'internal_error' };
    await inScope(mutation.db, mutation.caller.scope, (tx) => recordAudit(tx, { ...entry, detail }));
  } catch (failure) {
    mutation.log.error({ err: failure }, 'the refusal could not be audited');
  }
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
    ...actorOf(mutation.caller, mutation.request),
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
    requestHash: hashRequest(operation.operationId, request.params, request.body),
  };
}
