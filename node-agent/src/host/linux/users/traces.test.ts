import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openHostFiles } from '../host-files.ts';
import { anyFileOf } from './traces.ts';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'gpuaas-traces-'));
  mkdirSync(join(place, 'proc/1'), { recursive: true });
});
afterEach(() => rmSync(place, { recursive: true }));

const mountPoint = (kind: string): string => join(place, 'mounts', kind);

/** Where a search goes on a host with a file system of each of these kinds. */
async function searched(kinds: readonly string[]): Promise<string[]> {
  const lines = kinds.map((kind, index) => {
    mkdirSync(mountPoint(kind), { recursive: true });
    return `${20 + index} 1 0:${20 + index} / ${mountPoint(kind)} rw - ${kind} ${kind} rw`;
  });
  writeFileSync(join(place, 'proc/1/mountinfo'), `${lines.join('\n')}\n`);
  let words: readonly string[] = [];
  await anyFileOf(
    async (_tool, args) => {
      words = args;
      return { code: 0, stdout: '', stderr: '' };
    },
    openHostFiles(place),
    700_000_001,
  );
  return kinds.filter((kind) => words.includes(mountPoint(kind)));
}

it('a tenant is searched for wherever it can leave something, and not in what the kernel only shows', async () => {
  const kinds = ['ext4', 'tmpfs', 'mqueue', 'hugetlbfs', 'proc', 'sysfs', 'nfs4', 'squashfs'];
  expect(await searched(kinds)).toEqual(['ext4', 'tmpfs', 'mqueue', 'hugetlbfs']);
});
