import { Backoff } from '../backoff.ts';
import type { AgentConfig } from '../config.ts';
import { ServerRefusedError } from '../http-json.ts';
import { errorMessage, type Logger } from '../logger.ts';
import { enrol } from './enrol.ts';
import { enrolmentTokenFile, readTokenFile, removeTokenFile } from './enrolment-token-file.ts';
import { isValidAt, loadIdentity, saveIdentity, type Identity } from './identity.ts';
import { AuthorityMismatchError } from './pinned-authority.ts';

export class NoIdentityError extends Error {}

/**
 * The identity on disk, or one for the token. An old identity is better than none: this host's clock may be
 * wrong, and only the platform can decide whether it is still valid.
 */
export async function ensureIdentity(
  config: AgentConfig,
  log: Logger,
  signal: AbortSignal,
): Promise<Identity> {
  const stored = await loadIdentity(config.dir);
  const token = config.token ?? (await readTokenFile(config.dir));
  if (stored && (!token || isValidAt(stored, new Date()))) return stored;
  if (!token) {
    throw new NoIdentityError(
      `this host is not enrolled; mint an enrolment token for ${config.hostname} and set GPUAAS_AGENT_TOKEN ` +
        `or write it to ${enrolmentTokenFile(config.dir)}`,
    );
  }
  const backoff = new Backoff(500, 10_000);
  while (!signal.aborted) {
    try {
      return await reEnrol(config, token, log);
    } catch (error) {
      if (isPermanentError(error) && stored) {
        log.warn({ reason: errorMessage(error) }, 'the token was refused; trying the identity on disk');
        return stored;
      }
      if (isPermanentError(error)) throw new NoIdentityError(`enrolment failed: ${errorMessage(error)}`);
      log.warn({ reason: errorMessage(error) }, 'enrolment not possible yet');
      await backoff.wait(signal);
    }
  }
  throw new NoIdentityError('stopped before enrolment');
}

/** Exchanges a token for an identity and stores it; then removes the token file. */
export async function reEnrol(
  { server, dir, hostname }: Pick<AgentConfig, 'server' | 'dir' | 'hostname'>,
  token: string,
  log: Logger,
): Promise<Identity> {
  const identity = await enrol(server, token, hostname);
  await saveIdentity(dir, identity);
  await removeTokenFile(dir);
  log.info({ node_id: identity.node_id }, 'enrolled');
  return identity;
}

/** A retry with the same token would fail again. */
export function isPermanentError(error: unknown): boolean {
  if (error instanceof AuthorityMismatchError) return true;
  return error instanceof ServerRefusedError && error.status < 500 && error.status !== 429;
}
