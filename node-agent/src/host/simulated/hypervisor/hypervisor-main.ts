/**
 * Runs the VMs of one simulated host: `hypervisor-main.ts <folder of the host>`. One process serves SSH for
 * all of them, because a Node process for each would cost more than the rest of a launch. It outlives the
 * agent, but not the power of the machine, and ends after some time without VMs.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { listeningPort } from '@gpuaas/contracts/listening-port';
import { createDurable, readJson, removeDurable } from '../../../durable-file.ts';
import { errorMessage } from '../../../logger.ts';
import { GuestUnreachableError } from '../../host.ts';
import { removeStaleLimits } from '../guest/memory-limit.ts';
import { pipeSockets } from '../guest/pipe-sockets.ts';
import { startGuest, type Guest } from '../guest/start-guest.ts';
import { watchPowerLoss } from '../power-loss.ts';
import type { VmDefinition } from '../vms.ts';
import { DONE, type HypervisorRequest } from './send-to-hypervisor.ts';
import { findHypervisor, hypervisorFile, type HypervisorFile } from './hypervisor-file.ts';

const IDLE_MS = 3_000;
const MAX_REQUEST = 4_096;

const dir = folderOfHost();
const powerFd = process.env['GPUAAS_SIM_POWER_FD'];
if (powerFd) watchPowerLoss(Number(powerFd), () => process.exit(0));
process.on('SIGHUP', () => undefined);

const guests = new Map<string, Promise<Guest>>();
const secret = randomBytes(24).toString('base64url');
let idle: NodeJS.Timeout | undefined;

const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
  socket.on('error', () => undefined);
  let text = '';
  function receive(chunk: Buffer): void {
    text += chunk.toString('latin1');
    if (text.length > MAX_REQUEST) return void socket.destroy();
    if (!text.endsWith('\n')) return;
    // What follows is for the guest's port.
    socket.pause();
    socket.off('data', receive);
    socket.off('end', leave);
    void answer(socket, text);
  }
  const leave = (): void => void socket.destroy();
  socket.on('data', receive);
  socket.on('end', leave);
});
server.listen(0, '127.0.0.1', () => void announce());

function folderOfHost(): string {
  const folder = process.argv[2];
  if (!folder) throw new Error('usage: hypervisor-main.ts <folder of the host>');
  return folder;
}

/** An agent that died right after starting a hypervisor may start a second one; one of the two must exit. */
async function announce(): Promise<void> {
  const port = listeningPort(server);
  const me = JSON.stringify({ pid: process.pid, port, secret } satisfies HypervisorFile);
  while (!(await createDurable(hypervisorFile(dir), me))) {
    if (await findHypervisor(dir)) return process.exit(0);
    await removeDurable(hypervisorFile(dir));
  }
  removeStaleLimits(dir);
  restWhenIdle();
}

async function answer(socket: Socket, text: string): Promise<void> {
  clearTimeout(idle);
  try {
    const request: HypervisorRequest & { secret: string } = JSON.parse(text);
    if (!sameSecret(request.secret)) return void socket.destroy();
    if (request.ask === 'dial') return await dial(socket, request);
    await perform(request);
    socket.resume().end(DONE);
  } catch (error) {
    console.error(error);
    socket.resume().end('failed\n');
  } finally {
    restWhenIdle();
  }
}

async function dial(
  socket: Socket,
  { allocation_id, port }: { allocation_id: string; port: number },
): Promise<void> {
  try {
    const guest = await guests.get(allocation_id);
    if (!guest) throw new GuestUnreachableError('there is no running VM of this allocation');
    const connection = await guest.dial(port);
    socket.write(DONE);
    pipeSockets(socket, connection);
  } catch (error) {
    socket.resume().end(`${errorMessage(error)}\n`);
  }
}

async function perform({
  ask,
  definition_file,
  allocation_id,
}: Exclude<HypervisorRequest, { ask: 'dial' }>): Promise<void> {
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
    // Synchronously, so that no request is accepted after the file is gone: the next caller finds no
    // hypervisor and starts one.
    rmSync(hypervisorFile(dir), { force: true });
    process.exit(0);
  }, IDLE_MS);
}
