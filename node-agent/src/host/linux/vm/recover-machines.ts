import { sleep } from '../../../backoff.ts';
import { errorMessage, type Logger } from '../../../logger.ts';
import type { SliceNetwork } from '../network/slice-network.ts';
import type { SlicePort } from '../network/slice-ports.ts';
import { domainName } from './domain.ts';
import type { Libvirt } from './libvirt.ts';
import { openSliceRecord } from './slice-record.ts';
import { recordStart } from './started-machines.ts';

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
const POLL_MS = 500;

/**
 * After a reboot no network rules are left and no machine runs. Machines that ran before are started again
 * behind their packet filter; one that its owner switched off in this boot stays off. A failing machine is
 * logged and does not stop the others.
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
      // An agent killed between the two calls left it paused, and nothing else would resume it.
      if (state !== 'shut off' && state !== 'paused') continue;
      if (state === 'shut off') await libvirt.startPaused(name, AbortSignal.timeout(300_000));
      await network.guard(port);
      await libvirt.resume(name);
      await recordStart(record, allocation_id, port.ip, bootId);
      log.info({ allocation_id }, 'VM started again with the host');
    } catch (error) {
      log.error({ allocation_id, reason: errorMessage(error) }, 'VM did not start again with the host');
    }
  }
}

/**
 * Switch and DHCP start beside the agent when the host boots; machines must not stay off because the agent
 * was faster.
 */
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
        log.error({ reason: errorMessage(error) }, 'the network of the slices is not in place');
        return [];
      }
    }
    await sleep(POLL_MS);
  }
}
