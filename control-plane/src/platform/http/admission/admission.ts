import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallerIdentity } from '../caller-identity.ts';
import { HOURLY_LIMIT } from '../creation-limits.ts';
import type { OperationObject } from '../operation.ts';
import { Problem } from '../problem.ts';
import { networkOf } from './client-network.ts';
import { CredentialRefusedError } from './credential-refused.ts';
import type { DenialLog } from './denial-log.ts';
import { RateLimiter, type RateLimit, type RateLimits } from './rate-limits.ts';

export interface AdmissionParts<Caller> {
  authenticate(request: FastifyRequest, operation: OperationObject): Promise<Caller>;
  /** Whether the connection itself proves the credential, as a certificate does. */
  isProven?: ((request: FastifyRequest) => boolean) | undefined;
  /** Throws if the caller holds the operation's permission nowhere; the use-case checks the scope. */
  requirePermission?: ((caller: Caller, operation: OperationObject) => void) | undefined;
  rateLimits: RateLimits;
  denials: DenialLog;
}

export type Admit<Caller> = (
  request: FastifyRequest,
  reply: FastifyReply,
  operation: OperationObject,
) => Promise<Caller>;

/** Rate limits, authentication and permission, before the body is read. A request over a limit costs no query. */
export function createAdmission<Caller extends CallerIdentity>({
  authenticate,
  isProven = () => false,
  requirePermission,
  rateLimits: limits,
  denials,
}: AdmissionParts<Caller>): Admit<Caller> {
  const callers = new RateLimiter('caller', () => limits.caller);
  const anonymous = new RateLimiter('anonymous', () => limits.anonymous);
  const failures = new RateLimiter('failed_authentication', () => limits.failed_authentication);
  const spare = new RateLimiter('spare_look_ups', () => spareOf(limits.failed_authentication));
  const refusedBytes = new RateLimiter('refused_bytes', () => limits.refused_bytes);
  const creations = new RateLimiter('creations', () => limits.creations);
  const recent = new RecentCredentials();
  const refused = new RecentCredentials();

  /** Over the limit, a few credentials that were not tried yet are still looked up: one of them may be valid. */
  const admitUnknown = (payer: string, credential: string | null, reply: FastifyReply): void => {
    if (!failures.isSpent(payer)) return;
    const isNew = credential !== null && refused.get(credential) === null;
    if (!isNew || spare.take(payer).retryAfterSeconds !== null) failures.admit(payer, reply);
  };

  const identify: Admit<Caller> = async (request, reply, operation) => {
    const network = networkOf(request.ip);
    if (operation.security?.length === 0) {
      if (operation['x-rate-limit'] !== 'none') anonymous.admit(network, reply);
      return await authenticate(request, operation);
    }
    const credential = credentialOf(request);
    const known = recent.get(credential);
    // Guessed keys must not lock out browsers behind the same address.
    const guesser = `${network} ${kindOfCredential(request)}`;
    if (known !== null) callers.admit(known, reply);
    else if (!isProven(request)) admitUnknown(guesser, credential, reply);
    try {
      const caller = await authenticate(request, operation);
      if (known === null) callers.admit(caller.id, reply);
      recent.add(credential, caller.id);
      refused.forget(credential);
      return caller;
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        recent.forget(credential);
        refused.add(credential, guesser);
        failures.admit(guesser, reply);
      }
      throw error;
    }
  };

  return async (request, reply, operation) => {
    let caller: Caller;
    try {
      caller = await identify(request, reply, operation);
    } catch (error) {
      if (error instanceof CredentialRefusedError) await denials.credential(request, operation, error);
      throw error;
    }
    const payer = operation.security?.length === 0 ? networkOf(request.ip) : caller.id;
    if (operation['x-limit'] === HOURLY_LIMIT) creations.admit(`${payer} ${operation.operationId}`, reply);
    if (!operation.requestBody) return caller;
    if (refusedBytes.isSpent(payer)) refusedBytes.admit(payer, reply);
    request.chargeForBody = (bytes) => refusedBytes.charge(payer, bytes);
    try {
      requirePermission?.(caller, operation);
    } catch (error) {
      await denials.unpermitted(request, operation, caller, error);
      throw error;
    }
    return caller;
  };
}

const MAX_RECENT = 10_000;

/** Recent results of a credential, by its hash: enough to apply a limit before the look-up. */
class RecentCredentials {
  readonly #found = new Map<string, string>();

  get(credential: string | null): string | null {
    return credential === null ? null : (this.#found.get(credential) ?? null);
  }

  add(credential: string | null, found: string): void {
    if (credential === null || this.#found.has(credential)) return;
    if (this.#found.size >= MAX_RECENT) this.#found.delete(this.#found.keys().next().value!);
    this.#found.set(credential, found);
  }

  forget(credential: string | null): void {
    if (credential !== null) this.#found.delete(credential);
  }
}

/** Five look-ups in the time of one failure. */
function spareOf({ perSecond }: RateLimit): RateLimit {
  return { burst: 5 * perSecond, perSecond: 5 * perSecond };
}

function kindOfCredential({ headers }: FastifyRequest): 'bearer' | 'cookie' | 'none' {
  if (headers.authorization !== undefined) return 'bearer';
  return headers.cookie === undefined ? 'none' : 'cookie';
}

function credentialOf({ headers }: FastifyRequest): string | null {
  const sent = headers.authorization ?? headers.cookie;
  return sent === undefined ? null : createHash('sha256').update(sent).digest('base64');
}
