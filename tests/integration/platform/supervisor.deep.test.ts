import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../harness/eventually.ts';
import { freePort } from '../../harness/processes/free-port.ts';
import { processesIn } from '../../harness/processes/processes.ts';

const UP = fileURLToPath(new URL('../../../lab/src/up/up.ts', import.meta.url));

let home: string;
let dataDir: string;
let children: ChildProcess[];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpuaas up '));
  if (process.getuid?.() === 0) await chmod(home, 0o711);
  dataDir = join(home, 'data');
  children = [];
});

afterEach(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
  await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

interface Run {
  child: ChildProcess;
  ended: Promise<number | null>;
  said(): string;
}

/** `npm start` as a separate process group, like in a terminal. */
async function up(env: Record<string, string> = {}, args: string[] = []): Promise<Run> {
  const child = spawn(process.execPath, ['--disable-warning=DeprecationWarning', UP, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      GPUAAS_DATA_DIR: dataDir,
      GPUAAS_PORT: String(await freePort()),
      GPUAAS_NODE_PORT: String(await freePort()),
      GPUAAS_APPS_PORT: String(await freePort()),
      GPUAAS_SIM_NODES: '0',
      GPUAAS_SIM_SPEED: '0',
      ...env,
    },
  });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (said += data.toString()));
  return { child, ended: once(child, 'close').then(([code]) => code as number | null), said: () => said };
}

/** Ctrl-C: the terminal signals every process of the group. */
function ctrlC({ child }: Run): void {
  process.kill(-child.pid!, 'SIGINT');
}

async function until(run: Run, what: string, reached: () => boolean | Promise<boolean>): Promise<void> {
  for (;;) {
    if (await reached()) return;
    if (run.child.exitCode !== null) throw new Error(`ended before ${what}: ${run.said()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const ready = (run: Run): Promise<void> => until(run, 'ready', () => run.said().includes('Ready.'));

async function expectNothingLeft(): Promise<void> {
  await eventually('the last process to end', async () =>
    (await processesIn([home])).length === 0 ? true : null,
  );
  const left = existsSync(dataDir) ? await readdir(dataDir) : [];
  expect(left.filter((name) => name === 'postgres.supervisor' || name.includes('.init-'))).toEqual([]);
}

describe('Ctrl-C', () => {
  const inData = (name: string): boolean => existsSync(join(dataDir, name));
  const moments: [string, () => boolean | Promise<boolean>][] = [
    ['when the data folder is taken', () => inData('postgres.supervisor')],
    [
      'while the database is being made',
      async () => inData('postgres.supervisor') && (await readdir(dataDir)).some((n) => n.includes('.init-')),
    ],
    ['when PostgreSQL has just been started', () => inData('postgres/postmaster.pid')],
    [
      'when PostgreSQL takes connections and nobody has noticed',
      async () =>
        (await readFile(join(dataDir, 'postgres.log'), 'utf8').catch(() => '')).includes('ready to accept'),
    ],
    ['when the first keys are written', () => inData('platform.key')],
    ['when hosts are being started', () => inData('hosts/sim-h200-01/agent.log')],
  ];
  it.each(moments)('%s leaves nothing running', async (what, reached) => {
    const run = await up({ GPUAAS_SIM_NODES: '1' });
    await until(run, what, reached);
    ctrlC(run);
    expect(await run.ended, run.said()).toBe(0);
    await expectNothingLeft();
  });

  it('stops everything in good order, and what was stored is there at the next start', async () => {
    const ports = {
      GPUAAS_PORT: String(await freePort()),
      GPUAAS_NODE_PORT: String(await freePort()),
      GPUAAS_APPS_PORT: String(await freePort()),
    };
    const first = await up(ports);
    await ready(first);
    const demo = await readFile(join(dataDir, 'demo.json'), 'utf8');
    ctrlC(first);
    expect(await first.ended).toBe(0);
    await expectNothingLeft();
    const log = await readFile(join(dataDir, 'postgres.log'), 'utf8');
    expect(log).toContain('received fast shutdown request');

    const second = await up(ports);
    await ready(second);
    const keys = (text: string): string[] =>
      (JSON.parse(text) as { people: { api_key: string }[] }).people.map((person) => person.api_key);
    expect(keys(await readFile(join(dataDir, 'demo.json'), 'utf8'))).toEqual(keys(demo));

    // A second Ctrl-C ends it immediately, and the database is still stopped.
    ctrlC(second);
    ctrlC(second);
    expect([0, 130]).toContain(await second.ended);
    await expectNothingLeft();
  });

  it('twice ends immediately, PostgreSQL included, even during a request', async () => {
    const port = String(await freePort());
    const run = await up({ GPUAAS_PORT: port, GPUAAS_LOG_LEVEL: 'error' });
    await ready(run);
    const held = await holdRequest(Number(port));
    ctrlC(run);
    await held.untilNoticed();
    // A person's second press; an immediate repetition is the same one, passed on by npm.
    await pause(400);
    ctrlC(run);
    // A stop in good order would wait for the request, and Postgres would not be stopped immediately.
    expect(await run.ended).toBe(130);
    held.close();
    await expectNothingLeft();
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toContain(
      'received immediate shutdown request',
    );
  });
});

/** A request whose body never comes: a stop in good order waits for it. Returns once the server has begun on it. */
async function holdRequest(port: number): Promise<{ untilNoticed(): Promise<void>; close(): void }> {
  const demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as {
    people: { api_key: string }[];
  };
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  socket.write(
    [
      'POST /api/v1/allocations HTTP/1.1',
      'host: x',
      `authorization: Bearer ${demo.people[0]!.api_key}`,
      'content-type: application/json',
      'content-length: 10',
      'expect: 100-continue',
      '',
      '{',
    ].join('\r\n'),
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 100 /);
  return {
    // The port no longer takes connections once the stop has begun.
    untilNoticed: () =>
      eventually('the stop to begin', async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null);
        return answer?.ok ? null : true;
      }).then(() => undefined),
    close: () => socket.destroy(),
  };
}

describe('a PostgreSQL of our own that is killed', () => {
  const postmaster = async (): Promise<number> =>
    Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0]);

  it('is started again, and the platform is ready without anybody’s help', async () => {
    const port = String(await freePort());
    const run = await up({ GPUAAS_PORT: port, GPUAAS_SIM_NODES: '1', GPUAAS_LOG_LEVEL: 'fatal' });
    await ready(run);
    const isReady = async (): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok ?? false;
    const killed = await postmaster();
    process.kill(killed, 'SIGKILL');
    await expect.poll(isReady, { timeout: 60_000, interval: 20 }).toBe(false);
    await expect.poll(isReady, { timeout: 120_000 }).toBe(true);
    expect(await postmaster()).not.toBe(killed);
    ctrlC(run);
    expect(await run.ended).toBe(0);
    await expectNothingLeft();
  });

  it('and cannot be started again ends the platform with a reason', async () => {
    const run = await up({ GPUAAS_LOG_LEVEL: 'fatal' });
    await ready(run);
    const killed = await postmaster();
    await rm(join(dataDir, 'postgres/PG_VERSION'));
    process.kill(killed, 'SIGKILL');
    expect(await run.ended).toBe(1);
    expect(run.said()).toContain('Postgres has died and cannot be started again');
    await expectNothingLeft();
  });
});

describe('a start that cannot go on', () => {
  async function taken(): Promise<{ server: Server; port: number }> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, port: (server.address() as { port: number }).port };
  }

  it.each(['GPUAAS_PORT', 'GPUAAS_NODE_PORT', 'GPUAAS_APPS_PORT'])(
    'because %s is taken says so and leaves nothing',
    async (name) => {
      const { server, port } = await taken();
      const run = await up({ [name]: String(port) });
      expect(await run.ended).toBe(2);
      expect(run.said()).toContain(`Port ${port} on 127.0.0.1 is taken; choose another with ${name}.`);
      expect(existsSync(dataDir)).toBe(false);
      await expectNothingLeft();
      server.close();
    },
  );

  it.each([
    [['--no-such'], {}, 'Unknown option --no-such'],
    [[], { GPUAAS_SIM_FAULTS: 'gremlins' }, '"gremlins" is not known'],
    [[], { GPUAAS_HOST: '0.0.0.0' }, 'demo people with known passwords'],
  ])('because of %j %j says so and leaves nothing', async (args, env, message) => {
    const run = await up(env, args);
    expect(await run.ended).toBe(2);
    expect(run.said()).toContain(message);
    expect(existsSync(dataDir)).toBe(false);
  });

  it('is not one for --help, which names every setting', async () => {
    const run = await up({}, ['--help']);
    expect(await run.ended).toBe(0);
    expect(run.said()).toMatch(/--port +GPUAAS_PORT/);
    expect(run.said()).toMatch(/--database-url +DATABASE_URL/);
    expect(existsSync(dataDir)).toBe(false);
  });
});
