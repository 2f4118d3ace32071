import { Backoff } from '../backoff.ts';
import type { AgentConfig } from '../config.ts';
import { ServerRefusedError } from '../http-json.ts';
import { reasonOf, type Logger } from '../log.ts';
import { enrol } from './enrol.ts';
import { isValidAt, loadIdentity, saveIdentity, type Identity } from './identity.ts';
import { AuthorityMismatchError } from './pinned-authority.ts';

export class NoIdentityError extends Error {}

/** The identity on disk while it is valid, else a new one for the token. Waits for a server that is not up yet. */
export async function ensureIdentity(
  config: AgentConfig,
  log: Logger,
  signal: AbortSignal,
): Promise<Identity> {
  const stored = await loadIdentity(config.dir);
  if (stored && isValidAt(stored, new Date())) return stored;
  if (!config.token) {
    throw new NoIdentityError(
      stored
        ? 'the certificate has expired; mint a new enrolment token and set GPUAAS_AGENT_TOKEN'
        : 'this host is not enrolled; mint an enrolment token and set GPUAAS_AGENT_TOKEN',
    );
  }
  const backoff = new Backoff(500, 10_000);
  while (!signal.aborted) {
    try {
      const identity = await enrol(config.server, config.token, config.hostname);
      await saveIdentity(config.dir, identity);
      log.info({ node_id: identity.node_id }, 'enrolled');
      return identity;
    } catch (error) {
      if (isFinal(error)) throw new NoIdentityError(`enrolment failed: ${reasonOf(error)}`);
      log.warn({ reason: reasonOf(error) }, 'enrolment not possible yet');
      await backoff.wait(signal);
    }
  }
  throw new NoIdentityError('stopped before enrolment');
}

function isFinal(error: unknown): boolean {
  if (error instanceof AuthorityMismatchError) return true;
  return error instanceof ServerRefusedError && error.status < 500 && error.status !== 429;
}
