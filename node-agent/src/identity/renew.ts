import { Backoff, pause } from '../backoff.ts';
import type { ControlPlane } from '../control-plane.ts';
import { reasonOf, type Logger } from '../log.ts';
import { createCertificateRequest } from './certificate-request.ts';
import { identityFrom } from './enrol.ts';
import { isValidAt, renewalTime, saveIdentity, type Identity } from './identity.ts';

export interface RenewalOptions {
  dir: string;
  hostname: string;
  controlPlane: ControlPlane;
  log: Logger;
  signal: AbortSignal;
  /** The certificate ran out before a renewal succeeded: the agent cannot speak to the platform any more. */
  onExpired: () => void;
}

/** A long timer of Node fires at once above 2^31 ms; clocks also move, so look again at least hourly. */
const LOOK_EVERY_MS = 3_600_000;

export async function keepIdentityFresh(first: Identity, options: RenewalOptions): Promise<void> {
  let identity = first;
  const backoff = new Backoff(1_000, 60_000);
  while (!options.signal.aborted) {
    const wait = renewalTime(identity).getTime() - Date.now();
    if (wait > 0) {
      await pause(Math.min(wait, LOOK_EVERY_MS), options.signal);
      continue;
    }
    if (!isValidAt(identity, new Date())) return options.onExpired();
    try {
      identity = await renew(options);
      backoff.reset();
      options.log.info({ node_id: identity.node_id }, 'certificate renewed');
    } catch (error) {
      options.log.warn({ reason: reasonOf(error) }, 'certificate renewal failed');
      await backoff.wait(options.signal);
    }
  }
}

async function renew({ dir, hostname, controlPlane }: RenewalOptions): Promise<Identity> {
  const request = await createCertificateRequest(hostname);
  const issued = await controlPlane.renew(request.csr_pem);
  const identity = identityFrom(issued, request.private_key_pem);
  await saveIdentity(dir, identity);
  controlPlane.useIdentity(identity);
  return identity;
}
