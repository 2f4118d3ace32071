/**
 * What runs the VMs of one simulated host: `hypervisor-main.ts <folder of the host>`. One process serves the SSH of all of
 * them, because a Node process for each would cost more than everything else in a launch. It outlives the agent, not the
 * power of the machine, and ends when it has had nothing to run for a while.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createDurable, readJson, removeDurable } from '../../../durable-file.ts';
import { startGuest, type Guest } from '../guest/start-guest.ts';
import { watchPowerCord } from '../power-cord.ts';
import type { VmDefinition } from '../vms.ts';
import type { HypervisorRequest } from './ask-hypervisor.ts';
import { findHypervisor, hypervisorFile, type HypervisorFile } from './hypervisor-file.ts';

const IDLE_MS = 3_000;
const MAX_REQUEST = 4_096;

const dir = process.argv[2];
if (!dir) throw new Error('usage: hypervisor-main.ts <folder of the host>');
const powerFd = process.env['GPUAAS_SIM_POWER_FD'];
if (powerFd) watchPowerCord(Number(powerFd), () => process.exit(0));
process.on('SIGHUP', () => undefined);

const guests = new Map<string, Promise<Guest>>();
const secret = randomBytes(24).toString('base64url');
let idle: NodeJS.Timeout | undefined;

const server = createServer((socket) => {
  socket.on('error', () => undefined);
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
    if (text.length > MAX_REQUEST) return socket.destroy();
    if (text.endsWith('\n')) void answer(socket, text);
  });
});
server.listen(0, '127.0.0.1', () => void announce());

/** An agent that died right after starting a hypervisor may start another one; one of the two has to give way. */
async function announce(): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const me = JSON.stringify({ pid: process.pid, port, secret } satisfies HypervisorFile);
  while (!(await createDurable(hypervisorFile(dir!), me))) {
    if (await findHypervisor(dir!)) return process.exit(0);
    await removeDurable(hypervisorFile(dir!));
  }
  restWhenIdle();
}

async function answer(socket: Socket, text: string): Promise<void> {
  clearTimeout(idle);
  try {
    const request = JSON.parse(text) as HypervisorRequest & { secret: string };
    if (!sameSecret(request.secret)) return void socket.destroy();
    await perform(request);
    socket.end('done\n');
  } catch (error) {
    console.error(error);
    socket.end('failed\n');
  } finally {
    restWhenIdle();
  }
}

async function perform({ ask, definition_file, allocation_id }: HypervisorRequest): Promise<void> {
  if (ask === 'power_off') return await (await guests.get(allocation_id))?.powerOff();
  const starting = guests.get(allocation_id) ?? start(definition_file, allocation_id);
  await (
    await starting
  ).booted;
}

function start(definitionFile: string, allocationId: string): Promise<Guest> {
  const starting = (async () => {
    const vm = await readJson<VmDefinition>(definitionFile);
    if (!vm) throw new Error(`no VM is defined in ${definitionFile}`);
    return await startGuest(vm);
  })();
  guests.set(allocationId, starting);
  const forget = (): void => {
    guests.delete(allocationId);
    restWhenIdle();
  };
  starting.then((guest) => guest.gone.then(forget), forget);
  return starting;
}

function sameSecret(offered: unknown): boolean {
  const [a, b] = [Buffer.from(String(offered)), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function restWhenIdle(): void {
  clearTimeout(idle);
  if (guests.size > 0) return;
  idle = setTimeout(() => {
    // At once, so that nobody is heard after the file is gone: whoever asks now finds nobody, and starts the next one.
    rmSync(hypervisorFile(dir!), { force: true });
    process.exit(0);
  }, IDLE_MS);
}
