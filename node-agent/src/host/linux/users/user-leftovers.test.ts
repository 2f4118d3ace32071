import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openHostFiles } from '../host-files.ts';
import { findLeftoverFile } from './user-leftovers.ts';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'gpuaas-traces-'));
  mkdirSync(join(place, 'proc/1'), { recursive: true });
});
afterEach(() => rmSync(place, { recursive: true }));

const mountPoint = (kind: string): string => join(place, 'mounts', kind);

/** Paths searched on a host with one file system of each kind. */
async function searched(kinds: readonly string[]): Promise<string[]> {
  const lines = kinds.map((kind, index) => {
    mkdirSync(mountPoint(kind), { recursive: true });
    return `${20 + index} 1 0:${20 + index} / ${mountPoint(kind)} rw - ${kind} ${kind} rw`;
  });
  writeFileSync(join(place, 'proc/1/mountinfo'), `${lines.join('\n')}\n`);
  let words: readonly string[] = [];
  await findLeftoverFile(
    async (_tool, args) => {
      words = args;
      return { code: 0, stdout: '', stderr: '' };
    },
    openHostFiles(place),
    700_000_001,
  );
  return kinds.filter((kind) => words.includes(mountPoint(kind)));
}

it('searches every file system that can hold tenant files, and no virtual ones', async () => {
  const kinds = ['ext4', 'tmpfs', 'mqueue', 'hugetlbfs', 'proc', 'sysfs', 'nfs4', 'squashfs'];
  expect(await searched(kinds)).toEqual(['ext4', 'tmpfs', 'mqueue', 'hugetlbfs']);
});

it('searches again when files vanish meanwhile, and gives up in the end', async () => {
  writeFileSync(join(place, 'proc/1/mountinfo'), '');
  const vanished = { code: 1, stdout: '', stderr: "find: '/tmp/other/x': No such file or directory\n" };
  const search = async (results: { code: number; stdout: string; stderr: string }[]) => {
    let runs = 0;
    const answer = await findLeftoverFile(
      async () => results[Math.min(runs++, results.length - 1)]!,
      openHostFiles(place),
      700_000_001,
    );
    return { answer, runs };
  };
  const clean = { code: 0, stdout: '', stderr: '' };
  expect(await search([vanished, vanished, clean])).toEqual({ answer: null, runs: 3 });
  expect(await search([vanished, { ...clean, stdout: '/tmp/left\n' }])).toEqual({
    answer: 'file /tmp/left',
    runs: 2,
  });
  expect((await search([vanished])).answer).toContain('No such file');
  const unreadable = { code: 1, stdout: '', stderr: `${vanished.stderr}find: '/mnt': Input/output error\n` };
  expect(await search([unreadable, clean])).toMatchObject({ runs: 1 });
});
