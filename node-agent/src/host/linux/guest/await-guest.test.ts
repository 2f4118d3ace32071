import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ssh2 from 'ssh2';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { VmPlan } from '../../../slices/plan-vm.ts';
import type { ReadinessResult } from '../../host.ts';
import { newSshKeyPair, publicBlob } from '../../ssh-key-pair.ts';
import { verifyReadiness } from './await-guest.ts';

const plan = { username: 'ubuntu', readiness_checks: [], slots: [] } as unknown as VmPlan;
const step = { signal: new AbortController().signal, percent: () => undefined };
const [host, ours] = [newSshKeyPair(), newSshKeyPair()];

/** A guest that accepts our key until it is asked to remove it. */
let guest: ssh2.Server;
let knowsUs: boolean;
/** The agent is killed after the guest removed the key and before it gets the reply. */
let killed: boolean;
let kept: ReadinessResult[] | null;

beforeEach(async () => {
  [knowsUs, killed, kept] = [true, false, null];
  guest = new ssh2.Server({ hostKeys: [host.private] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (attempt) => {
      const isOurs = attempt.method === 'publickey' && attempt.key.data.equals(publicBlob(ours.public));
      return isOurs && knowsUs ? attempt.accept() : attempt.reject();
    });
    client.on('session', (open) =>
      open().on('exec', (accept, _refuse, { command }) => {
        const channel = accept();
        if (command.startsWith('sed')) knowsUs = false;
        if (killed) return client.end();
        channel.write('0\n');
        channel.exit(1);
        channel.end();
      }),
    );
  });
  guest.listen(0, '127.0.0.1');
  await once(guest, 'listening');
});
afterEach(() => new Promise((resolve) => void guest.close(resolve)));

function prove(): Promise<ReadinessResult[]> {
  const { port } = guest.address() as AddressInfo;
  const who = { username: 'ubuntu', privateKey: ours.private, hostKey: host.public };
  const keep = async (found: ReadinessResult[]): Promise<void> => void (kept = found);
  return verifyReadiness({ address: '127.0.0.1', port, ...who }, plan, { known: kept, keep }, 2_000, step);
}

it('lets the agent in once and removes its key', async () => {
  expect(await prove()).toMatchObject([{ check: 'ssh', passed: true }]);
  expect(knowsUs).toBe(false);
});

it('a machine is ready if the agent was killed after its key was removed', async () => {
  killed = true;
  await expect(prove()).rejects.toMatchObject({ code: 'guest_not_ready' });
  killed = false;
  expect(await prove()).toMatchObject([{ check: 'ssh', passed: true }]);
});

it('a guest that never accepted the agent is not ready', async () => {
  knowsUs = false;
  await expect(prove()).rejects.toMatchObject({ code: 'guest_not_ready' });
  expect(kept).toBeNull();
});
