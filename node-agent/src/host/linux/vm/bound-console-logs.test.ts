import { appendFile, mkdir, mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { boundConsoleLogs } from './bound-console-logs.ts';

const MIB = 1024 * 1024;
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpuaas-console-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function logOf(id: string): Promise<string> {
  await mkdir(join(dir, 'slices', id), { recursive: true });
  return join(dir, 'slices', id, 'console.log');
}

it('a guest that never stops writing keeps a bounded log, whose end is what it wrote last', async () => {
  const log = await logOf('talkative');
  const hypervisor = await open(log, 'a');
  for (let round = 0; round < 30; round += 1) {
    await hypervisor.write(Buffer.alloc(MIB, `${round % 10}`));
    await boundConsoleLogs(dir);
    expect((await stat(log)).size).toBeLessThanOrEqual(9 * MIB);
  }
  await hypervisor.write('the last line');
  await hypervisor.close();
  const text = await readFile(log, 'latin1');
  expect(text.endsWith('9the last line')).toBe(true);
  // Without holes: the hypervisor goes on at the new end.
  expect(text).not.toContain('\0');
});

it('leaves short logs and folders without one as they are', async () => {
  await appendFile(await logOf('quiet'), 'booted');
  await mkdir(join(dir, 'slices', 'empty'));
  await boundConsoleLogs(dir);
  expect(await readFile(await logOf('quiet'), 'utf8')).toBe('booted');
});

it('a host without machines has nothing to shorten', async () => {
  await boundConsoleLogs(join(dir, 'none'));
});
