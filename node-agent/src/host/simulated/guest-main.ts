import { join } from 'node:path';
import { createDurable, readJson, removeDurable, writeDurable } from '../../durable-file.ts';
import { bootLines } from './guest/console-log.ts';
import { ensureHostKey } from './guest/host-key.ts';
import { hostKeyFacts } from '../ssh-key-pair.ts';
import { isGuestAlive, runFile, type RunFile } from './guest/run-file.ts';
import { serveSsh } from './guest/ssh-server.ts';
import { motd, writeSystemFiles } from './guest/system-files.ts';
import { watchPowerCord } from './power-cord.ts';
import type { VmDefinition } from './vms.ts';

/** One simulated VM as a process of its own: `guest-main.ts <definition file> <allocation id>`. */
async function runGuest(definitionFile: string, allocationId: string): Promise<void> {
  const vm = await readJson<VmDefinition>(definitionFile);
  if (!vm || !(await isOnlyGuest(vm.guest_folder, allocationId))) return process.exit(0);
  const { plan } = vm;
  const system = join(vm.guest_folder, 'system');
  await writeRun(vm, null);
  if (vm.never_boots) return void setInterval(() => undefined, 60_000);
  await writeSystemFiles(system, plan, { driver: !vm.without_driver });
  const hostKey = await ensureHostKey(vm.guest_folder);
  const port = await serveSsh({
    hostKey,
    username: plan.username,
    authorizedKeys: plan.ssh_authorized_keys,
    sandbox: { hostname: plan.hostname, username: plan.username, home: vm.home, system },
    motd: motd(plan),
  });
  process.stdout.write(bootLines(plan, hostKeyFacts(hostKey).host_key_fingerprint));
  await writeRun(vm, port);
}

async function writeRun(vm: VmDefinition, ssh_port: number | null): Promise<void> {
  const run: RunFile = { pid: process.pid, ssh_port };
  await writeDurable(runFile(vm.guest_folder), `${JSON.stringify(run)}\n`);
}

/** An agent that died right after starting a guest may start it again; one of the two has to give way. */
async function isOnlyGuest(folder: string, allocationId: string): Promise<boolean> {
  const lock = join(folder, 'guest.lock');
  const me = JSON.stringify({ pid: process.pid, ssh_port: null } satisfies RunFile);
  for (;;) {
    if (await createDurable(lock, me)) return true;
    const holder = await readJson<RunFile>(lock);
    if (holder && isGuestAlive(holder, allocationId)) return false;
    await removeDurable(lock);
  }
}

const powerFd = process.env['GPUAAS_SIM_POWER_FD'];
if (powerFd) watchPowerCord(Number(powerFd), () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.on('SIGHUP', () => undefined);

const [definitionFile, allocationId] = process.argv.slice(2);
if (!definitionFile || !allocationId)
  throw new Error('usage: guest-main.ts <definition file> <allocation id>');
await runGuest(definitionFile, allocationId);
