import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallerIdentity } from './caller-identity.ts';
import { CredentialRefused } from './credential-refused.ts';
import type { DenialLog } from './denial-log.ts';
import type { OperationObject } from './operation.ts';
import { Problem } from './problem.ts';
import { RateLimiter, type RateLimits } from './rate-limits.ts';

type Authenticate<Caller> = (request: FastifyRequest, operation: OperationObject) => Promise<Caller>;
type Admit<Caller> = (
  request: FastifyRequest,
  reply: FastifyReply,
  operation: OperationObject,
) => Promise<Caller>;

/** Authentication and rate limits: who may go on to validation. */
export function createAdmission<Caller extends CallerIdentity>(
  authenticate: Authenticate<Caller>,
  limits: RateLimits,
  denials: DenialLog,
): Admit<Caller> {
  const callers = new RateLimiter('caller', () => limits.caller);
  const anonymous = new RateLimiter('anonymous', () => limits.anonymous);
  const failures = new RateLimiter('failed_authentication', () => limits.failed_authentication);
  return async (request, reply, operation) => {
    try {
      const caller = await authenticate(request, operation);
      if (operation['x-rate-limit'] === 'none') return caller;
      if (operation.security?.length === 0) anonymous.admit(request.ip, reply);
      else callers.admit(caller.id, reply);
      return caller;
    } catch (error) {
      // Only failures are counted by address, so nobody can lock out the others behind the same address.
      if (error instanceof Problem && error.status === 401) failures.admit(request.ip, reply);
      if (error instanceof CredentialRefused) await denials.credential(request, operation, error);
      throw error;
    }
  };
}
