import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApp } from '@gpuaas/lab/apps/build/build-app';
import { afterAll, beforeAll, expect, it } from 'vitest';

let folder: string;
let payload: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpuaas-word-count-'));
  payload = join(folder, 'payload');
  await writeFile(payload, (await buildApp('word-count')).bytes);
  await mkdir(join(folder, 'in', 'deeper'), { recursive: true });
  await writeFile(join(folder, 'in', 'a.txt'), 'The slice and the host.\nThe host!');
  await writeFile(join(folder, 'in', 'deeper', 'b.txt'), 'Grün grün HOST');
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

function run(env: Record<string, string>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [payload], { env, encoding: 'utf8' });
  const events = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return { status, events, stderr };
}

it('counts words, reports progress, and exits with 0', async () => {
  const { status, events } = run({ PARAM_INPUT: join(folder, 'in'), PARAM_TOP: '3' });
  expect(status).toBe(0);
  expect(events).toEqual([
    { event: 'progress', done: 1, of: 2, distinct_words: 4 },
    { event: 'progress', done: 2, of: 2, distinct_words: 5 },
    {
      event: 'done',
      files: 2,
      words: 10,
      top: [
        ['host', 3],
        ['the', 3],
        ['grün', 2],
      ],
    },
  ]);
  const output = join(folder, 'result.json');
  expect(run({ PARAM_INPUT: join(folder, 'in', 'a.txt'), PARAM_OUTPUT: output }).status).toBe(0);
  expect(JSON.parse(await readFile(output, 'utf8'))).toMatchObject({ files: 1, words: 7 });
});

it('exits with 1 if the input cannot be read, and with 2 if a parameter is wrong', () => {
  expect(run({ PARAM_INPUT: join(folder, 'missing') })).toMatchObject({
    status: 1,
    events: [{ event: 'failed' }],
  });
  expect(run({})).toMatchObject({ status: 2, stderr: expect.stringContaining('PARAM_INPUT') });
  expect(run({ PARAM_INPUT: folder, PARAM_TOP: 'many' })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('PARAM_TOP'),
  });
});

it('stops on SIGTERM, and leaves no half result', async () => {
  const large = join(folder, 'large');
  await mkdir(large);
  await writeFile(join(large, 'a.txt'), 'short');
  await writeFile(join(large, 'b.txt'), 'a few words of a line\n'.repeat(4_000_000));
  const output = join(folder, 'never.json');
  const child = spawn(process.execPath, [payload], { env: { PARAM_INPUT: large, PARAM_OUTPUT: output } });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect((await exited)[0]).toBe(143);
  await expect(readFile(output)).rejects.toThrow();
});
