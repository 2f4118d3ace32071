import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpuaas entry point '));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const TIMINGS = { oneSignalMs: 0, startSettlesMs: 1_000, stopMs: 20_000, immediateMs: 2_000 };

class Role {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  said = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'close').then(([code]) => code as number | null);
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => (this.said += data.toString()));
  }

  async until(word: string): Promise<void> {
    await expect.poll(() => this.said, { timeout: 30_000, interval: 10 }).toContain(word);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Exit code and the words it printed, in order. */
  async end(): Promise<{ code: number | null; words: string[] }> {
    const code = await this.#ended;
    return { code, words: this.said.trim().split('\n') };
  }
}

/** A process whose start is `body`; `say`, `pause` and `ConfigError` are defined for it. */
async function run(name: string, body: string, timings = TIMINGS): Promise<Role> {
  const script = join(folder, `${name.replaceAll(/\W+/g, '-')}.mjs`);
  await writeFile(
    script,
    `import { setTimeout as pause } from 'node:timers/promises';
     import { runRole } from ${JSON.stringify(join(import.meta.dirname, 'entry-point.ts'))};
     import { ConfigError } from ${JSON.stringify(join(import.meta.dirname, 'config.ts'))};
     const say = (word) => process.stdout.write(word + '\\n');
     setInterval(() => {}, 1000);
     await runRole(async (onStop, stopping) => { ${body} }, ${JSON.stringify(timings)});`,
  );
  return new Role(spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'pipe'] }));
}

describe('a role', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'undoes on %s what it started, each part once, the last first',
    async (signal) => {
      const role = await run(
        `orderly ${signal}`,
        `onStop(() => say('first')); onStop(async () => { await pause(50); say('second'); }); say('up');`,
      );
      await role.until('up');
      role.signal(signal);
      expect(await role.end()).toEqual({ code: 0, words: ['up', 'second', 'first'] });
    },
  );

  it('that is signalled between starting a part and registering its undo undoes that too, once', async () => {
    const role = await run(
      'gap',
      `onStop(() => say('undo database'));
       say('starting'); await pause(400); // what is started here has no undo yet
       onStop(() => say('undo server')); say('must not be reached');`,
    );
    await role.until('starting');
    role.signal('SIGTERM');
    expect(await role.end()).toEqual({ code: 0, words: ['starting', 'undo server', 'undo database'] });
  });

  it('aborts a running start', async () => {
    const role = await run(
      'called off',
      `onStop(() => say('undone')); say('starting');
       await new Promise((resolve, reject) => stopping.addEventListener('abort', () => { say('aborted'); reject(new Error('no')); }));`,
    );
    await role.until('starting');
    role.signal('SIGINT');
    expect(await role.end()).toEqual({ code: 0, words: ['starting', 'aborted', 'undone'] });
  });

  it('does not wait indefinitely for a start that does not settle', async () => {
    const role = await run(
      'stuck start',
      `onStop(() => say('undone')); say('starting'); await new Promise(() => {});`,
    );
    await role.until('starting');
    role.signal('SIGINT');
    expect(await role.end()).toEqual({ code: 0, words: ['starting', 'undone'] });
  });

  it('ends immediately on a second signal, also during an undo', async () => {
    const role = await run(
      'impatient',
      `onStop(() => say('must not be reached'), { immediately: async () => { await pause(50); say('database immediately'); } });
       onStop(async () => { say('draining'); await pause(60000); }, { immediately: () => say('server immediately') }); say('up');`,
    );
    await role.until('up');
    role.signal('SIGINT');
    await role.until('draining');
    role.signal('SIGINT');
    role.signal('SIGINT');
    const { code, words } = await role.end();
    expect(code).toBe(130);
    expect(words.toSorted()).toEqual(['database immediately', 'draining', 'server immediately', 'up']);
  });

  it('takes the same Ctrl-C from the terminal and from npm as one', async () => {
    const role = await run(
      'passed on',
      `onStop(async () => { say('draining'); await pause(300); say('drained'); }, { immediately: () => say('immediately') }); say('up');`,
      { ...TIMINGS, oneSignalMs: 10_000 },
    );
    await role.until('up');
    role.signal('SIGINT');
    await role.until('draining');
    role.signal('SIGINT');
    expect(await role.end()).toEqual({ code: 0, words: ['up', 'draining', 'drained'] });
  });

  it('ends without a second signal when stopping takes too long', async () => {
    const role = await run(
      'overdue',
      `onStop(async () => { await pause(60000); }, { immediately: () => say('immediately') }); say('up');`,
      { ...TIMINGS, stopMs: 300 },
    );
    await role.until('up');
    role.signal('SIGTERM');
    expect(await role.end()).toEqual({ code: 1, words: ['up', 'immediately'] });
  });

  it.each([
    ['fails to start', `throw new Error('no database')`, 1],
    ['has a wrong setting', `throw new ConfigError('no database')`, 2],
    ['meets an error nobody expected', `setTimeout(() => { throw new Error('no database'); }, 50)`, 1],
    ['drops a rejected promise', `void pause(50).then(() => { throw new Error('no database'); })`, 1],
  ])('that %s prints the reason and undoes what it started', async (name, failing, code) => {
    const role = await run(name, `onStop(() => say('undone')); ${failing};`);
    expect(await role.end()).toEqual({ code, words: ['no database', 'undone'] });
  });

  it('survives a broken connection without an error handler', async () => {
    const role = await run(
      'reset',
      `const { createServer, connect } = await import('node:net');
       const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
       await new Promise((resolve) => server.once('listening', resolve));
       const client = connect(server.address().port, '127.0.0.1');
       server.once('connection', () => setTimeout(() => client.resetAndDestroy(), 50));
       void pause(50).then(() => { throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' }); });
       onStop(() => say('undone'));`,
    );
    await role.until('read ECONNRESET');
    await role.until('write EPIPE');
    role.signal('SIGTERM');
    const { code, words } = await role.end();
    expect({ code, words: words.toSorted() }).toEqual({
      code: 0,
      words: ['read ECONNRESET', 'undone', 'write EPIPE'],
    });
  });

  it('continues to undo when one part fails', async () => {
    const role = await run(
      'failing undo',
      `onStop(() => say('undone')); onStop(() => { throw new Error('stuck'); }); say('up');`,
    );
    await role.until('up');
    role.signal('SIGINT');
    expect(await role.end()).toEqual({ code: 0, words: ['up', 'stuck', 'undone'] });
  });
});
