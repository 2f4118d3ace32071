/**
 * The same web app behind nothing, behind HAProxy, and behind our gateway: the whole way through sign-in, rights,
 * tunnel with TLS, agent and simulated machine. `npm run bench:gateway`; Debian, whose haproxy and wrk are unpacked.
 */
import { execFile, spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { launchMachine, startWebApp } from '../harness/apps/web-app.ts';
import { startTestPlatform } from '../harness/platform.ts';
import { freePort } from '../harness/processes/free-port.ts';
import { setup } from '../setup/global-setup.ts';
import { unpackPrograms } from './debian-programs.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const BYTES = Number(process.env['BENCH_MEGABYTES'] ?? 128) * 1_000_000;
const APP = fileURLToPath(new URL('../harness/apps/guest-web-app.mjs', import.meta.url));
const run = promisify(execFile);

interface Way {
  url: string;
  headers: string[];
}

const stops: (() => Promise<unknown> | void)[] = [await setup()];
try {
  await measure();
} finally {
  for (const stop of stops.toReversed()) await stop();
}

async function measure(): Promise<void> {
  const programs = unpackPrograms([
    'haproxy',
    'liblua5.3-0',
    'libopentracing-c-wrapper0',
    'libopentracing1',
    'wrk',
    'libluajit-5.1-2',
  ]);
  stops.push(() => rm(programs.folder, { recursive: true, force: true }));
  const [appPort, haproxyPort] = [await freePort(), await freePort()];
  start(process.execPath, [APP, String(appPort)]);
  const configuration = join(programs.folder, 'haproxy.cfg');
  await writeFile(configuration, haproxy(haproxyPort, appPort));
  start('haproxy', ['-db', '-f', configuration], programs.env);
  const ways = {
    direct: { url: `http://127.0.0.1:${appPort}`, headers: [] },
    HAProxy: { url: `http://127.0.0.1:${haproxyPort}`, headers: [] },
    gateway: await throughGateway(),
  };
  await pause(500);
  const wrk = async (way: Way, connections: number): Promise<{ perSecond: number; p50: number }> => {
    const args = ['-t1', `-c${connections}`, `-d${SECONDS}s`, '--latency', ...way.headers, `${way.url}/304`];
    const { stdout } = await run('wrk', args, { env: programs.env });
    const [, time = '0', unit = 'ms'] = /50%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
    const scale = { us: 0.001, ms: 1, s: 1000 }[unit] ?? 1;
    return { perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]), p50: Number(time) * scale };
  };
  const download = async (way: Way): Promise<number> => {
    const args = [
      '-s',
      '-o',
      '/dev/null',
      '-w',
      '%{speed_download}',
      ...way.headers,
      `${way.url}/big?bytes=${BYTES}`,
    ];
    return Number((await run('curl', args)).stdout) / 1_000_000;
  };
  console.log(`median of ${ROUNDS} alternating rounds of ${SECONDS} s, load ${loadavg()[0]?.toFixed(1)}`);
  const [busy, alone, speed] = [
    await rounds(ways, async (way) => (await wrk(way, 32)).perSecond),
    await rounds(ways, async (way) => (await wrk(way, 1)).p50),
    await rounds(ways, download),
  ];
  for (const name of ['direct', 'HAProxy', 'gateway'] as const)
    console.log(
      `${name.padEnd(8)} ${busy[name].toFixed(0).padStart(6)} requests/s at 32 connections, p50 ${alone[name].toFixed(2)} ms ` +
        `at one, ${speed[name].toFixed(0).padStart(5)} MB/s`,
    );
  verdict('requests/s of HAProxy’s', busy.gateway / busy.HAProxy, 0.25);
  verdict('download of direct', speed.gateway / speed.direct, 0.1);
  verdict('added p50 in ms, at most', alone.gateway - alone.direct, 3);
  let downloading = true;
  const loops = [1, 2].map(async () => {
    while (downloading) await download(ways.gateway);
  });
  await pause(500);
  const beside = (await wrk(ways.gateway, 1)).p50;
  downloading = false;
  await Promise.all(loops);
  verdict('p50 beside two downloads, in quiet p50s, at most', beside / alone.gateway, 5);
  console.log(`load at the end ${loadavg()[0]?.toFixed(1)}`);
}

async function throughGateway(): Promise<Way> {
  const platform = await startTestPlatform({ nodes: 1 });
  stops.push(() => platform.stop());
  const { label } = await startWebApp(platform, await launchMachine(platform), { slug: 'bench', port: 8000 });
  const { appsPort } = platform;
  const headers = [`Host: ${label}.localhost:${appsPort}`, `Authorization: Bearer ${platform.keys.member}`];
  return { url: `http://127.0.0.1:${appsPort}`, headers: headers.flatMap((header) => ['-H', header]) };
}

async function rounds<Name extends string>(
  ways: Record<Name, Way>,
  measureOne: (way: Way) => Promise<number>,
): Promise<Record<Name, number>> {
  const names = Object.keys(ways) as Name[];
  const results = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const name of names) results.get(name)?.push(await measureOne(ways[name]));
  const median = (values: number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  return Object.fromEntries(names.map((name) => [name, median(results.get(name) ?? [])])) as Record<
    Name,
    number
  >;
}

function verdict(what: string, value: number, target: number): void {
  const met = what.endsWith('at most') ? value <= target : value >= target;
  console.log(`${what}: ${value.toFixed(2)}, ${met ? 'meets' : 'misses'} the target of ${target}`);
}

function start(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): void {
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  stops.push(() => void child.kill('SIGKILL'));
}

function haproxy(port: number, appPort: number): string {
  return `global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 300s
  timeout server 300s
frontend f
  bind 127.0.0.1:${port}
  default_backend g
backend g
  http-reuse always
  server s1 127.0.0.1:${appPort} pool-max-conn 256
`;
}
