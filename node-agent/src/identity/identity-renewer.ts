import { Backoff, sleep } from '../backoff.ts';
import type { AgentConfig } from '../config.ts';
import type { ControlPlane } from '../control-plane.ts';
import { removeDurable, writeDurable } from '../durable-file.ts';
import { errorMessage, type Logger } from '../logger.ts';
import type { PlatformClock } from '../platform-clock.ts';
import { checkBundle } from './ca-bundle.ts';
import { createCertificateRequest } from './certificate-request.ts';
import { identityFrom } from './enrol.ts';
import { enrolmentTokenFile, readTokenFile } from './enrolment-token-file.ts';
import { reEnrol, isPermanentError } from './ensure-identity.ts';
import { identityProblemFile, renewalTime, saveIdentity, type Identity } from './identity.ts';
import { remedyFor, classifyIdentityError, type IdentityErrorKind } from './identity-problem.ts';

/**
 * Keeps platform and host acceptable to each other: renews in time, adopts new CAs, enrols again when
 * refused.
 */
export interface IdentityRenewer {
  /** Records the result of a call to the platform; a series of refusals starts a recovery. */
  noteCall(error: unknown): void;
  /** Replaces the trusted CAs with the platform's bundle. */
  trustBundle(bundlePem: string): Promise<void>;
  /** Called when the platform wants this certificate replaced. */
  renewSoon(): void;
  keep(controlPlane: ControlPlane, signal: AbortSignal): Promise<void>;
}

export interface IdentityRenewerOptions {
  config: AgentConfig;
  clock: PlatformClock;
  log: Logger;
  /** How long to wait between attempts while the platform refuses this host. */
  recoverEveryMs?: number;
}

/** Node fires timers above 2^31 ms immediately; clocks also move, so check at least this often. */
const CHECK_EVERY_MS = 60_000;
/** A single refusal may come from a replica that has not seen a renewal yet. */
const REFUSALS_IN_A_ROW = 3;

export function createIdentityRenewer(options: IdentityRenewerOptions): IdentityRenewer {
  const { config, clock, log, recoverEveryMs = 5_000 } = options;
  const usedTokens = new Set<string>();
  let inUse: ControlPlane | null = null;
  let refusals = 0;
  let trouble: IdentityErrorKind | null = null;
  let reported: IdentityErrorKind | null = null;
  let renewalWanted = false;
  let wake = new AbortController();

  return {
    noteCall(error) {
      const found = error === null ? null : classifyIdentityError(error);
      // A network failure proves nothing about the identity.
      if (error !== null && found === null) return;
      refusals = found === null ? 0 : refusals + 1;
      trouble = refusals >= REFUSALS_IN_A_ROW ? found : null;
      if (trouble !== null) wake.abort();
    },
    async trustBundle(bundlePem) {
      if (!inUse || inUse.identity.ca_bundle_pem === bundlePem) return;
      checkBundle(bundlePem);
      await adopt(inUse, { ...inUse.identity, ca_bundle_pem: bundlePem });
      log.info('a new CA bundle is trusted');
    },
    renewSoon() {
      renewalWanted = true;
      wake.abort();
    },
    async keep(controlPlane, signal) {
      inUse = controlPlane;
      const backoff = new Backoff(1_000, 60_000);
      while (!signal.aborted) {
        if (trouble !== null) {
          await recover(controlPlane, trouble);
          if (trouble !== null) await sleep(recoverEveryMs, signal);
          continue;
        }
        if (reported !== null) await clearProblem();
        const wait = renewalTime(controlPlane.identity).getTime() - clock.now().getTime();
        if (wait > 0 && !renewalWanted) {
          await sleep(Math.min(wait, CHECK_EVERY_MS), AbortSignal.any([signal, wake.signal]));
          if (wake.signal.aborted) wake = new AbortController();
          continue;
        }
        try {
          await renew(controlPlane);
          renewalWanted = false;
          backoff.reset();
        } catch (error) {
          log.warn({ reason: errorMessage(error) }, 'certificate renewal failed');
          await backoff.wait(signal);
        }
      }
    },
  };

  async function renew(controlPlane: ControlPlane): Promise<void> {
    const request = await createCertificateRequest();
    const issued = await controlPlane.renew(request.csr_pem);
    await adopt(controlPlane, identityFrom(issued, request.private_key_pem));
    log.info({ node_id: issued.node_id }, 'certificate renewed');
  }

  async function adopt(controlPlane: ControlPlane, identity: Identity): Promise<void> {
    await saveIdentity(config.dir, identity);
    controlPlane.useIdentity(identity);
  }

  async function recover(controlPlane: ControlPlane, why: IdentityErrorKind): Promise<void> {
    if (reported !== why) await reportProblem(why);
    if (why === 'clock_wrong') return;
    const token = (await readTokenFile(config.dir)) ?? config.token;
    if (!token || usedTokens.has(token)) return;
    try {
      controlPlane.useIdentity(await reEnrol(config, token, log));
      usedTokens.add(token);
      refusals = 0;
      trouble = null;
    } catch (error) {
      if (isPermanentError(error)) usedTokens.add(token);
      log.error({ reason: errorMessage(error) }, 'could not enrol again');
    }
  }

  /** Logs the problem and writes it to a file for the host's monitoring. */
  async function reportProblem(why: IdentityErrorKind): Promise<void> {
    reported = why;
    const advice = remedyFor(why, config.hostname, enrolmentTokenFile(config.dir));
    log.error({ trouble: why }, advice);
    const problem = { code: why, advice, since: clock.localNow().toISOString() };
    await writeDurable(identityProblemFile(config.dir), `${JSON.stringify(problem)}\n`);
  }

  async function clearProblem(): Promise<void> {
    reported = null;
    log.info('platform and host accept each other again');
    await removeDurable(identityProblemFile(config.dir));
  }
}
