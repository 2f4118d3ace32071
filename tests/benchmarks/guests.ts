/**
 * Simulated machines on one host, as a laptop runs them: how long one boots, how much memory it takes while it is idle,
 * how long a command in it takes, and how soon everything is gone. `npm run bench:guests`; `BENCH_GUESTS` says how many.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bootSandbox,
  endSandbox,
  type BootedSandbox,
} from '@gpuaas/node-agent/host/simulated/guest/boot-sandbox';
import { sessionCommand } from '@gpuaas/node-agent/host/simulated/guest/session-command';
import { guestUid } from '@gpuaas/node-agent/host/simulated/guest/guest-user';
import { GuestRelay } from '@gpuaas/node-agent/host/simulated/guest/relay';
import type { Sandbox } from '@gpuaas/node-agent/host/simulated/guest/sandbox';
import { writeSystemFiles } from '@gpuaas/node-agent/host/simulated/guest/system-files';
import { planVm } from '@gpuaas/node-agent/slices/plan-vm';
import { provisionParams } from '@gpuaas/node-agent/testing/slots';

const GUESTS = Number(process.env['BENCH_GUESTS'] ?? 50);
const BOOT_TARGET_MS = 100;
const MEMORY_TARGET_KB = 1024;
const isRoot = process.getuid?.() === 0;

const folder = await mkdtemp(join(tmpdir(), 'gpuaas-bench-guests-'));
const guests: { sandbox: Sandbox; booted: BootedSandbox }[] = [];
try {
  await measure();
} finally {
  await Promise.all(guests.map(({ booted }) => endSandbox(booted)));
  await rm(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  console.log(`${GUESTS} guests of ${isRoot ? 'root' : 'a plain user'}, load ${loadavg()[0]!.toFixed(1)}`);
  const system = join(folder, 'system');
  await writeSystemFiles(system, planVm(provisionParams('bench-host', [0], [])));
  const boots: number[] = [];
  for (let index = 0; index < GUESTS; index += 1) {
    const sandbox = sandboxOf(`guest-${index}`, system);
    const start = performance.now();
    guests.push({ sandbox, booted: await bootSandbox(sandbox) });
    boots.push(performance.now() - start);
  }
  report('boot of a guest', median(boots), BOOT_TARGET_MS, 'ms');
  const kilobytes = guests.flatMap(({ booted: { monitor, init, life } }) =>
    [monitor, init, life].map(memoryOf),
  );
  const each = kilobytes.reduce((sum, one) => sum + one, 0) / GUESTS;
  report('memory of an idle guest', each, MEMORY_TARGET_KB, 'kB');
  const commands: number[] = [];
  for (const guest of guests) commands.push(await timed(() => run(guest)));
  console.log(`a command in a guest: ${median(commands).toFixed(0)} ms`);
  console.log(
    `a command in each, together: ${(await timed(() => Promise.all(guests.map(run)))).toFixed(0)} ms`,
  );
  const relay = new GuestRelay(guests[0]!.sandbox, guests[0]!.booted);
  const dial = (): Promise<unknown> => relay.dial(1).catch(() => null);
  console.log(
    `first dial: ${(await timed(dial)).toFixed(0)} ms, the next: ${(await timed(dial)).toFixed(1)} ms`,
  );
  relay.stop();
  const off = await timed(() => Promise.all(guests.splice(0).map(({ booted }) => endSandbox(booted))));
  console.log(`all off: ${off.toFixed(0)} ms; load at the end ${loadavg()[0]!.toFixed(1)}`);
}

function sandboxOf(name: string, system: string): Sandbox {
  const home = join(folder, name);
  const owner = isRoot ? guestUid(name) : null;
  mkdirSync(home, { mode: 0o700 });
  if (owner !== null) chownSync(home, owner, owner);
  return {
    allocationId: name,
    hostname: name,
    username: 'ubuntu',
    home,
    system,
    node: process.execPath,
    owner,
    staged: isRoot,
    cgroup: null,
  };
}

async function run({ sandbox, booted }: { sandbox: Sandbox; booted: BootedSandbox }): Promise<void> {
  const { file, args } = sessionCommand(sandbox, booted, ['/bin/true'], {});
  const [code] = (await once(spawn(file, args, { stdio: 'ignore' }), 'exit')) as [number | null];
  if (code !== 0) throw new Error(`a command in ${sandbox.hostname} ended with ${code}`);
}

/** Its share of the pages that it has in memory. */
function memoryOf(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function report(name: string, value: number, target: number, unit: string): void {
  const verdict = value <= target ? 'meets' : 'misses';
  console.log(`${name}: ${value.toFixed(0)} ${unit}, ${verdict} the target of ${target} ${unit}`);
}
