import { AGENT_VERSION } from './agent-version.ts';
import { pause } from './backoff.ts';
import type { ControlPlane, Heartbeat } from './control-plane.ts';
import type { Host } from './host/host.ts';
import { reasonOf, type Logger } from './log.ts';
import type { SlotLeases } from './slot-leases.ts';

const EVERY_MS = 5_000;

export interface HeartbeatSources {
  host: Host;
  leases: SlotLeases;
  controlPlane: ControlPlane;
  log: Logger;
}

/** Tells what is observed here, at once and then every five seconds; a missed beat is simply followed by the next. */
export async function beat(sources: HeartbeatSources, signal: AbortSignal): Promise<void> {
  let heard = true;
  while (!signal.aborted) {
    try {
      await sources.controlPlane.heartbeat(await observe(sources));
      if (!heard) sources.log.info('heartbeat heard again');
      heard = true;
    } catch (error) {
      if (heard && !signal.aborted) sources.log.warn({ reason: reasonOf(error) }, 'heartbeat not heard');
      heard = false;
    }
    await pause(EVERY_MS, signal);
  }
}

async function observe({ host, leases }: HeartbeatSources): Promise<Heartbeat> {
  return {
    boot_id: host.bootId,
    agent_version: AGENT_VERSION,
    agent_time: new Date().toISOString(),
    leases: (await leases.list()).map(({ slot_id, allocation_id }) => ({ slot_id, allocation_id })),
    vms: await host.listVms(),
    ...(await host.observeDevices()),
  };
}
