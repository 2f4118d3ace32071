import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Denials } from '../audit/denials.ts';
import type { Db, Tx } from '../db/database.ts';
import { inScope } from '../db/scope.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { CallerIdentity } from './caller-identity.ts';
import type { CheckCreation } from './creation-limits.ts';
import type { GracefulStop } from './graceful-stop.ts';
import { runMutation, runBatchableMutation, type BatchableMutation } from './mutation.ts';
import type { AuditTarget, Context, OperationObject } from './operation.ts';

/** Context of a handler. The logger is created at its first use: most requests log nothing. */
export function createContext<Caller extends CallerIdentity>(
  settings: {
    db: Db;
    log: Logger;
    graceful: GracefulStop;
    denied: Denials;
    checkCreation?: CheckCreation | undefined;
  },
  operation: OperationObject,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Context<never, Caller> {
  const audited: { target?: AuditTarget } = {};
  const { db, denied: denials, checkCreation } = settings;
  const mutation = { db, denials, checkCreation, operation, caller, request, audited };
  let log: Logger | undefined;
  const context = {
    caller,
    params: request.params,
    query: request.query,
    body: request.body,
    correlationId: request.id,
    stopping: settings.graceful.stopping,
    get log(): Logger {
      return (log ??= settings.log.child({ correlation_id: request.id, operation: operation.operationId }));
    },
    request,
    reply,
    audit: (target: AuditTarget) => {
      audited.target = target;
    },
    read: <T>(look: (tx: Tx) => Promise<T>) => inScope(settings.db, caller.scope, look),
    mutate: (decide: Parameters<Context<never, Caller>['mutate']>[0]) => runMutation(mutation, decide),
    mutateInBatch: (way: BatchableMutation<never>) => runBatchableMutation(mutation, way),
  };
  return context as Context<never, Caller>;
}
