import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Db, Tx } from '../db/database.ts';
import { inScope } from '../db/scope.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { CallerIdentity } from './caller-identity.ts';
import type { GracefulStop } from './graceful-stop.ts';
import { runMutation, runTogether, type Together } from './mutation.ts';
import type { AuditTarget, Context, OperationObject } from './operation.ts';

/** What a handler works with. The logger is made when it is first used: most requests have nothing to say. */
export function createContext<Caller extends CallerIdentity>(
  settings: { db: Db; log: Logger; graceful: GracefulStop },
  operation: OperationObject,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Context<never, Caller> {
  const audited: { target?: AuditTarget } = {};
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
    mutate: (decide: Parameters<Context<never, Caller>['mutate']>[0]) =>
      runMutation({ db: settings.db, operation, caller, request, log: context.log, audited }, decide),
    mutateTogether: (way: Together<never>) =>
      runTogether({ db: settings.db, operation, caller, request, log: context.log, audited }, way),
  };
  return context as unknown as Context<never, Caller>;
}
