/**
 * The same copy with the same `scp` into the same machine: straight to its SSH port over loopback, and through command
 * line, gateway, tunnel and agent. `npm run bench:tunnel`; `BENCH_MEGABYTES` says how much.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createKeyPair } from '@gpuaas/node-agent/testing/ssh';
import { unwrap } from '@gpuaas/sdk/problem';
import { launchBody, waitForState } from '../harness/allocations/allocations.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { setup } from '../setup/global-setup.ts';

const MEGABYTES = Number(process.env['BENCH_MEGABYTES'] ?? 200);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const TARGET = 0.25;
const MAIN = fileURLToPath(new URL('../../cli/src/main.ts', import.meta.url));
const run = promisify(execFile);

const stops: (() => Promise<unknown> | void)[] = [await setup()];
try {
  await measure();
} finally {
  for (const stop of stops.toReversed()) await stop();
}

async function measure(): Promise<void> {
  const platform = await startTestPlatform({ nodes: 1 });
  stops.push(() => platform.stop());
  const home = await mkdtemp(join(tmpdir(), 'gpuaas-bench-tunnel-'));
  stops.push(() => rm(home, { recursive: true, force: true }));
  const pair = createKeyPair();
  const [key, file] = [join(home, 'key'), join(home, 'file')];
  await writeFile(key, pair.private, { mode: 0o600 });
  await writeFile(file, randomBytes(MEGABYTES * 1024 * 1024));
  const id = await launchMachine(platform, pair.public);
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    XDG_CONFIG_HOME: home,
    GPUAAS_URL: platform.baseUrl,
    GPUAAS_API_KEY: platform.keys.member,
  };
  const trusting = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'];
  const direct = (from: string, to: string, port: string) =>
    run('scp', ['-i', key, '-P', port, ...trusting.flatMap((one) => ['-o', one]), from, to], { env });
  const tunnelled = (from: string, to: string) =>
    run(process.execPath, [MAIN, 'cp', '-i', key, from, to], { env });
  const port = await sshPortOf(platform, id);
  const straight = 'ubuntu@127.0.0.1:data';
  const ways = {
    'into the machine': {
      direct: () => direct(file, straight, port),
      tunnel: () => tunnelled(file, `${id}:data`),
    },
    'out of the machine': {
      direct: () => direct(straight, join(home, 'back'), port),
      tunnel: () => tunnelled(`${id}:data`, join(home, 'back')),
    },
  };
  console.log(`${MEGABYTES} MB by scp, best of ${ROUNDS}, load ${loadavg()[0]!.toFixed(1)}`);
  for (const [name, way] of Object.entries(ways)) {
    const [best, through] = [await rateOf(way.direct), await rateOf(way.tunnel)];
    const share = through / best;
    const verdict = share >= TARGET ? 'meets' : 'misses';
    console.log(
      `${name.padEnd(20)} direct ${best.toFixed(0)} MB/s, through the tunnel ${through.toFixed(0)} MB/s: ` +
        `${(share * 100).toFixed(0)} %, ${verdict} the target of ${TARGET * 100} %`,
    );
  }
  console.log(`load at the end ${loadavg()[0]!.toFixed(1)}`);
}

async function rateOf(copy: () => Promise<unknown>): Promise<number> {
  let best = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    await copy();
    best = Math.max(best, MEGABYTES / ((performance.now() - start) / 1000));
  }
  return best;
}

async function launchMachine(platform: TestPlatform, publicKey: string): Promise<string> {
  const { id: keyId } = await unwrap(
    platform.member.POST('/api/v1/ssh-keys', { body: { name: 'bench', public_key: publicKey } }),
  );
  const body = { ...launchBody(platform.projectId, 1), ssh_key_ids: [keyId] };
  const { id } = await unwrap(platform.member.POST('/api/v1/allocations', { body }));
  await waitForState(platform.member, id, 'active');
  return id;
}

async function sshPortOf(platform: TestPlatform, allocationId: string): Promise<string> {
  const { hostname } = platform.fleet.nodes[0]!;
  const file = join(platform.dataDir, 'hosts', hostname, 'vms', allocationId, 'run.json');
  return String((JSON.parse(await readFile(file, 'utf8')) as { ssh_port: number }).ssh_port);
}
