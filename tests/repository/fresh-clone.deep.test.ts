import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { freePort } from '../harness/processes/free-port.ts';
import { processesIn } from '../harness/processes/processes.ts';
import { ROOT } from './source-files.ts';

const isRoot = process.getuid?.() === 0;
const registry = execFileSync('npm', ['config', 'get', 'registry']).toString().trim();
const nobody = isRoot ? await accountOf('nobody') : null;

/**
 * A newcomer's first steps: clone into a path with a space, below a home that other users may not enter, and
 * start.
 */
describe('a fresh clone', () => {
  it('installs, starts, stops and starts again for the user who runs this', () => newcomer(null));

  it('does so for a plain user too, and passes its tests', async (ctx) => {
    if (!nobody) return ctx.skip('needs root to become somebody else');
    await newcomer(nobody, testsOfTheParts);
  }, 1_200_000);
});

type Options = { cwd: string; env: Record<string, string>; uid?: number; gid?: number };

/** The tests of `npm test` that depend on the machine: its tools, the database and the hosts. */
const ABOUT_THE_MACHINE = ['platform/db', 'node-agent/src/host', 'node-agent/src/commands', 'lab/src'];

async function testsOfTheParts(options: Options): Promise<void> {
  const child = spawn('npm', ['test', '--', ...ABOUT_THE_MACHINE], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => void said.push(data.toString()));
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code, said.join('').slice(-4000)).toBe(0);
}

async function newcomer(
  user: { uid: number; gid: number } | null,
  further?: (options: Options) => Promise<void>,
): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'fresh home '));
  try {
    await chmod(home, 0o700);
    const clone = join(home, 'my clone');
    execFileSync('git', ['clone', '--quiet', ROOT, clone]);
    await mkdir(join(home, 'state'));
    if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, home]);
    const ports = {
      GPUAAS_PORT: String(await freePort()),
      GPUAAS_NODE_PORT: String(await freePort()),
      GPUAAS_APPS_PORT: String(await freePort()),
    };
    const env = { ...bareEnvironment(home), ...ports, GPUAAS_SIM_NODES: '1', GPUAAS_SIM_SPEED: '0' };
    const options = { cwd: clone, env, ...user };
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    for (const start of ['first', 'second']) {
      const child = spawn('npm', ['start'], {
        ...options,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      await untilReady(child, `http://127.0.0.1:${ports.GPUAAS_PORT}/readyz`, start);
      const ended = once(child, 'exit');
      process.kill(-child.pid!, 'SIGINT');
      await ended;
      const places = [home, ...(await clusterElsewhere(home))];
      await eventually(
        'the last process to end',
        async () => ((await processesIn(places)).length === 0 ? true : null),
        5_000,
      );
    }
    await further?.(options);
    const left = execFileSync('git', ['-c', 'safe.directory=*', 'status', '--porcelain'], { cwd: clone });
    expect(left.toString()).toBe('');
  } finally {
    for (const place of [...(await clusterElsewhere(home)), home])
      await rm(place, { recursive: true, force: true });
  }
}

async function untilReady(child: ChildProcess, url: string, start: string): Promise<void> {
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => (said += data.toString()));
  await eventually(
    `the ${start} start`,
    async () => {
      if (child.exitCode !== null) throw new Error(`the ${start} start ended: ${said.slice(-2000)}`);
      const answer = await fetch(url).catch(() => null);
      return answer?.ok ? true : null;
    },
    120_000,
  );
}

/** Nothing of ours but the way to the package registry. */
function bareEnvironment(home: string): Record<string, string> {
  const passed = /^(PATH|LANG|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i;
  const kept = Object.entries(process.env).filter(
    ([name, value]) => passed.test(name) && value !== undefined,
  );
  const path = (process.env['PATH'] ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    PATH: path.join(':'),
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    npm_config_registry: registry,
    npm_config_cache: join(home, '.npm'),
    TERM: 'dumb',
  };
}

/** Where root's database went when its account cannot enter the home. */
async function clusterElsewhere(home: string): Promise<string[]> {
  const noted = await readFile(join(home, 'state/gpuaas/postgres.location'), 'utf8').catch(() => '');
  return noted === '' ? [] : [noted.trim()];
}

async function accountOf(name: string): Promise<{ uid: number; gid: number } | null> {
  if (userInfo().username === name) return null;
  const line = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : null;
}
