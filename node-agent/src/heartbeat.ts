import { AGENT_VERSION } from './agent-version.ts';
import { sleep } from './backoff.ts';
import type { ControlPlane, Heartbeat } from './control-plane.ts';
import type { HostLease } from './host-lease.ts';
import type { Host } from './host/host.ts';
import { errorMessage, type Logger } from './logger.ts';
import { bundleDigest } from './identity/ca-bundle.ts';
import type { IdentityRenewer } from './identity/identity-renewer.ts';
import type { PlatformClock } from './platform-clock.ts';
import type { SlotLeases } from './slot-leases.ts';

const EVERY_MS = 5_000;
/** A fleet that starts together must not send its heartbeats together. */
const JITTER = 0.2;

export interface HeartbeatSources {
  host: Host;
  leases: SlotLeases;
  hostLease: HostLease;
  controlPlane: ControlPlane;
  clock: PlatformClock;
  keeper: IdentityRenewer;
  log: Logger;
}

/**
 * Reports the host's state immediately and then about every five seconds; a lost heartbeat is followed by the
 * next.
 */
export async function sendHeartbeats(sources: HeartbeatSources, signal: AbortSignal): Promise<void> {
  let accepted = true;
  while (!signal.aborted) {
    try {
      const answer = await sources.controlPlane.heartbeat(await observe(sources));
      if (!accepted) sources.log.info('heartbeat accepted again');
      accepted = true;
      if (answer.ca_bundle_pem) await sources.keeper.trustBundle(answer.ca_bundle_pem);
      if (answer.renew_certificate) sources.keeper.renewSoon();
    } catch (error) {
      if (accepted && !signal.aborted) sources.log.warn({ reason: errorMessage(error) }, 'heartbeat failed');
      accepted = false;
    }
    await sleep(EVERY_MS * (1 - JITTER / 2 + Math.random() * JITTER), signal);
  }
}

async function observe({
  host,
  leases,
  hostLease,
  clock,
  controlPlane,
}: HeartbeatSources): Promise<Heartbeat> {
  return {
    boot_id: host.bootId,
    agent_version: AGENT_VERSION,
    agent_time: clock.localNow().toISOString(),
    clock_offset_ms: clock.offsetMs(),
    ca_bundle_sha256: bundleDigest(controlPlane.identity.ca_bundle_pem),
    leases: (await leases.list()).map(({ slot_id, allocation_id }) => ({ slot_id, allocation_id })),
    host_lease: await hostLease.holder(),
    vms: await host.listVms(),
    ...(await host.observeDevices()),
  };
}
