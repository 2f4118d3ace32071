import { Backoff, pause } from '../backoff.ts';
import type { AgentConfig } from '../config.ts';
import type { ControlPlane } from '../control-plane.ts';
import { removeDurable, writeDurable } from '../durable-file.ts';
import { reasonOf, type Logger } from '../log.ts';
import type { PlatformClock } from '../platform-clock.ts';
import { checkBundle } from './ca-bundle.ts';
import { createCertificateRequest } from './certificate-request.ts';
import { identityFrom } from './enrol.ts';
import { enrolmentTokenFile, readTokenFile } from './enrolment-token-file.ts';
import { enrolAnew, isFinal } from './ensure-identity.ts';
import { identityProblemFile, renewalTime, saveIdentity, type Identity } from './identity.ts';
import { adviceFor, identityTroubleOf, type IdentityTrouble } from './identity-trouble.ts';

/** Keeps platform and host acceptable to each other: renews in time, takes new CAs, enrols anew when refused. */
export interface IdentityKeeper {
  /** How a call to the platform ended; an endless row of refusals is what starts a recovery. */
  noteCall(error: unknown): void;
  /** The platform's word on whom to trust from now on. */
  trustBundle(bundlePem: string): Promise<void>;
  /** The platform wants this certificate replaced. */
  renewSoon(): void;
  keep(controlPlane: ControlPlane, signal: AbortSignal): Promise<void>;
}

export interface IdentityKeeperOptions {
  config: AgentConfig;
  clock: PlatformClock;
  log: Logger;
  /** How long to wait between looks while the platform refuses this host. */
  recoverEveryMs?: number;
}

/** A long timer of Node fires at once above 2^31 ms; clocks also move, so look again at least this often. */
const LOOK_EVERY_MS = 60_000;
/** One refusal may come from a replica that has not heard of a renewal yet. */
const REFUSALS_IN_A_ROW = 3;

export function createIdentityKeeper(options: IdentityKeeperOptions): IdentityKeeper {
  const { config, clock, log, recoverEveryMs = 5_000 } = options;
  const usedTokens = new Set<string>();
  let inUse: ControlPlane | null = null;
  let refusals = 0;
  let trouble: IdentityTrouble | null = null;
  let told: IdentityTrouble | null = null;
  let renewalWanted = false;
  let wake = new AbortController();

  return {
    noteCall(error) {
      const found = error === null ? null : identityTroubleOf(error);
      // A network failure says nothing about the identity.
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
          if (trouble !== null) await pause(recoverEveryMs, signal);
          continue;
        }
        if (told !== null) await clearTrouble();
        const wait = renewalTime(controlPlane.identity).getTime() - clock.now().getTime();
        if (wait > 0 && !renewalWanted) {
          await pause(Math.min(wait, LOOK_EVERY_MS), AbortSignal.any([signal, wake.signal]));
          if (wake.signal.aborted) wake = new AbortController();
          continue;
        }
        try {
          await renew(controlPlane);
          renewalWanted = false;
          backoff.reset();
        } catch (error) {
          log.warn({ reason: reasonOf(error) }, 'certificate renewal failed');
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

  async function recover(controlPlane: ControlPlane, why: IdentityTrouble): Promise<void> {
    if (told !== why) await tellTrouble(why);
    if (why === 'clock_wrong') return;
    const token = (await readTokenFile(config.dir)) ?? config.token;
    if (!token || usedTokens.has(token)) return;
    try {
      controlPlane.useIdentity(await enrolAnew(config, token, log));
      usedTokens.add(token);
      refusals = 0;
      trouble = null;
    } catch (error) {
      if (isFinal(error)) usedTokens.add(token);
      log.error({ reason: reasonOf(error) }, 'could not enrol anew');
    }
  }

  /** For the log, and as a file for whoever watches over the host. */
  async function tellTrouble(why: IdentityTrouble): Promise<void> {
    told = why;
    const advice = adviceFor(why, config.hostname, enrolmentTokenFile(config.dir));
    log.error({ trouble: why }, advice);
    const problem = { code: why, advice, since: clock.localNow().toISOString() };
    await writeDurable(identityProblemFile(config.dir), `${JSON.stringify(problem)}\n`);
  }

  async function clearTrouble(): Promise<void> {
    told = null;
    log.info('platform and host accept each other again');
    await removeDurable(identityProblemFile(config.dir));
  }
}
