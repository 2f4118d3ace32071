import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../../../testing/simulated-host.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { SliceNetwork } from '../network/slice-network.ts';
import type { Libvirt } from './libvirt.ts';
import { recoverMachines } from './recover-machines.ts';
import { openSliceRecord } from './slice-record.ts';

const ID = '019a8000-0000-7000-8000-000000000001';
const PORT = { allocation_id: ID, mac: '52:54:00:00:00:01', ip: '10.77.0.10', ovs_port: 'gs000001p0' };

let dir: string;
let did: string[];
/** Number of failures before switch and DHCP are up. */
let tooEarly: number;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpuaas-recover-'));
  [did, tooEarly] = [[], 0];
});
afterEach(() => rm(dir, { recursive: true }));

/** A host with a machine in this libvirt state that ran in the previous boot or runs in this one. */
async function recover(state: string, ranIn: 'this boot' | 'the boot before'): Promise<string[]> {
  const started = { pid: 1, startTicks: 1, started_at: new Date().toISOString(), address: PORT.ip };
  await openSliceRecord(dir, ID).write('started', { bootId: ranIn, ...started });
  const does = (what: string) => async () => void did.push(what);
  const libvirt = {
    state: async () => state,
    startPaused: does('start'),
    resume: does('resume'),
  } as unknown as Libvirt;
  const network = {
    dropStale: async () => [],
    async restore() {
      if ((tooEarly -= 1) >= 0) throw new TaskError('network_not_ready', 'no dnsmasq runs');
      return [PORT];
    },
    guard: does('guard'),
  } as unknown as SliceNetwork;
  const leased = new Set([ID]);
  await recoverMachines({ dir, bootId: 'this boot', libvirt, network, log: silentLog, leased });
  return did;
}

it('a machine that ran before the boot is started behind its packet filter', async () => {
  expect(await recover('shut off', 'the boot before')).toEqual(['start', 'guard', 'resume']);
});

it('a machine left paused by a killed agent is filtered and resumed', async () => {
  expect(await recover('paused', 'the boot before')).toEqual(['guard', 'resume']);
});

it('a machine that runs, or that its owner switched off in this boot, is left alone', async () => {
  expect(await recover('running', 'the boot before')).toEqual([]);
  expect(await recover('shut off', 'this boot')).toEqual([]);
});

it('an agent that is up before switch and DHCP waits for them', async () => {
  tooEarly = 2;
  expect(await recover('shut off', 'the boot before')).toEqual(['start', 'guard', 'resume']);
});
