import { pause } from '../../../backoff.ts';
import { reasonOf, type Logger } from '../../../log.ts';
import type { SliceNetwork } from '../network/slice-network.ts';
import type { SlicePort } from '../network/slice-ports.ts';
import { domainName } from './domain.ts';
import type { Libvirt } from './libvirt.ts';
import { openSliceRecord } from './slice-record.ts';
import { noteStart } from './started-machines.ts';

export interface Recovery {
  dir: string;
  bootId: string;
  libvirt: Libvirt;
  network: SliceNetwork;
  log: Logger;
  /** Allocations that hold slots of this host. */
  leased: ReadonlySet<string>;
}

const PATIENCE_MS = 30_000;
const LOOK_MS = 500;

/**
 * After a reboot of the host nothing of the network is left and no machine runs. Those that ran are started again behind
 * their guard; one that its owner had switched off in this boot stays off. Trouble with one is told and stops no other.
 */
export async function recoverMachines(recovery: Recovery): Promise<void> {
  const { dir, bootId, libvirt, network, log } = recovery;
  const ports = await restoreNetwork(recovery);
  for (const port of ports) {
    const { allocation_id } = port;
    const record = openSliceRecord(dir, allocation_id);
    try {
      const before = await record.read('started');
      const name = domainName(allocation_id);
      if (!before || before.bootId === bootId) continue;
      const state = await libvirt.state(name);
      // An agent that was killed between the two left it paused, and nobody else would let it run.
      if (state !== 'shut off' && state !== 'paused') continue;
      if (state === 'shut off') await libvirt.startPaused(name, AbortSignal.timeout(300_000));
      await network.guard(port);
      await libvirt.resume(name);
      await noteStart(record, allocation_id, port.ip, bootId);
      log.info({ allocation_id }, 'VM started again with the host');
    } catch (error) {
      log.error({ allocation_id, reason: reasonOf(error) }, 'VM did not start again with the host');
    }
  }
}

/** Switch and DHCP come up beside the agent when the host boots; machines do not stay off because it was faster. */
async function restoreNetwork({ network, log, leased }: Recovery): Promise<SlicePort[]> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      const stale = await network.dropStale(leased);
      for (const { allocation_id, mac, ip } of stale)
        log.warn({ allocation_id, mac, ip }, 'an address that no lease backs was taken away');
      return await network.restore();
    } catch (error) {
      if (Date.now() > end) {
        log.error({ reason: reasonOf(error) }, 'the network of the slices is not in place');
        return [];
      }
    }
    await pause(LOOK_MS);
  }
}
