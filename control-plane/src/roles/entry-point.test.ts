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

const TIMINGS = { oneSignalMs: 0, startSettlesMs: 1_000, stopMs: 20_000, atOnceMs: 2_000 };

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

  /** Exit code and the words it said, in order. */
  async end(): Promise<{ code: number | null; words: string[] }> {
    const code = await this.#ended;
    return { code, words: this.said.trim().split('\n') };
  }
}

/** A process of its own whose start is `body`; `say`, `pause` and `ConfigError` are there for it. */
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
    'undoes on %s what it started, each once, the last first',
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

  it('that is signalled between starting a thing and saying how to undo it undoes that too, once', async () => {
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

  it('tells a start under way that it is called off', async () => {
    const role = await run(
      'called off',
      `onStop(() => say('undone')); say('starting');
       await new Promise((resolve, reject) => stopping.addEventListener('abort', () => { say('told'); reject(new Error('no')); }));`,
    );
    await role.until('starting');
    role.signal('SIGINT');
    expect(await role.end()).toEqual({ code: 0, words: ['starting', 'told', 'undone'] });
  });

  it('does not wait for ever for a start that does not settle', async () => {
    const role = await run(
      'stuck start',
      `onStop(() => say('undone')); say('starting'); await new Promise(() => {});`,
    );
    await role.until('starting');
    role.signal('SIGINT');
    expect(await role.end()).toEqual({ code: 0, words: ['starting', 'undone'] });
  });

  it('ends at once on a second signal, also what is being undone', async () => {
    const role = await run(
      'impatient',
      `onStop(() => say('must not be reached'), { atOnce: async () => { await pause(50); say('database at once'); } });
       onStop(async () => { say('draining'); await pause(60000); }, { atOnce: () => say('server at once') }); say('up');`,
    );
    await role.until('up');
    role.signal('SIGINT');
    await role.until('draining');
    role.signal('SIGINT');
    role.signal('SIGINT');
    const { code, words } = await role.end();
    expect(code).toBe(130);
    expect(words.toSorted()).toEqual(['database at once', 'draining', 'server at once', 'up']);
  });

  it('takes the same Ctrl-C from the terminal and from npm for one', async () => {
    const role = await run(
      'passed on',
      `onStop(async () => { say('draining'); await pause(300); say('drained'); }, { atOnce: () => say('at once') }); say('up');`,
      { ...TIMINGS, oneSignalMs: 10_000 },
    );
    await role.until('up');
    role.signal('SIGINT');
    await role.until('draining');
    role.signal('SIGINT');
    expect(await role.end()).toEqual({ code: 0, words: ['up', 'draining', 'drained'] });
  });

  it('ends at once by itself when stopping takes too long', async () => {
    const role = await run(
      'overdue',
      `onStop(async () => { await pause(60000); }, { atOnce: () => say('at once') }); say('up');`,
      { ...TIMINGS, stopMs: 300 },
    );
    await role.until('up');
    role.signal('SIGTERM');
    expect(await role.end()).toEqual({ code: 1, words: ['up', 'at once'] });
  });

  it.each([
    ['fails to start', `throw new Error('no database')`, 1],
    ['has a wrong setting', `throw new ConfigError('no database')`, 2],
    ['meets an error nobody expected', `setTimeout(() => { throw new Error('no database'); }, 50)`, 1],
    ['drops a rejected promise', `void pause(50).then(() => { throw new Error('no database'); })`, 1],
  ])('that %s says why and undoes what stands', async (name, failing, code) => {
    const role = await run(name, `onStop(() => say('undone')); ${failing};`);
    expect(await role.end()).toEqual({ code, words: ['no database', 'undone'] });
  });

  it('goes on undoing when one step fails', async () => {
    const role = await run(
      'failing undo',
      `onStop(() => say('undone')); onStop(() => { throw new Error('stuck'); }); say('up');`,
    );
    await role.until('up');
    role.signal('SIGINT');
    expect(await role.end()).toEqual({ code: 0, words: ['up', 'stuck', 'undone'] });
  });
});
