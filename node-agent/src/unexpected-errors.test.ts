import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** A process under the agent's rule that does `body`, and says so if it lives on after an error. */
async function run(body: string): Promise<{ code: number | null; said: string }> {
  const file = (name: string): string => JSON.stringify(join(import.meta.dirname, name));
  const script = `
    import { createServer, connect } from 'node:net';
    import { createLogger } from ${file('logger.ts')};
    import { endOnUnexpectedErrors } from ${file('unexpected-errors.ts')};
    endOnUnexpectedErrors(createLogger('test'));
    process.on('uncaughtException', () => setTimeout(() => { console.log('lives on'); process.exit(0); }, 200));
    setTimeout(() => process.exit(9), 60_000);
    ${body}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (said += data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

describe('an agent', () => {
  it('survives a broken connection without an error handler', async () => {
    const { code, said } = await run(`
      const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1', () => {
        const client = connect(server.address().port, '127.0.0.1', () => setTimeout(() => client.resetAndDestroy(), 50));
      });`);
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('lives on') });
    expect(said).toContain('ECONNRESET');
  });

  it.each([
    ['an error', `setTimeout(() => { throw new Error('a broken rule'); }, 10);`],
    ['a rejection', `void Promise.reject(new Error('a broken rule'));`],
  ])('ends with %s that nobody expected, and says why', async (_name, body) => {
    const { code, said } = await run(body);
    expect(code).toBe(1);
    expect(said).toContain('a broken rule');
    expect(said).not.toContain('lives on');
  });
});
