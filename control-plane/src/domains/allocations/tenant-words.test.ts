import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { failures, failureWords, stageWords } from './tenant-words.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const sources = globSync(['node-agent/src/**/*.ts', 'control-plane/src/**/*.ts'], { cwd: root })
  .filter((path) => !/test|tenant-words/.test(path))
  .map((path) => readFileSync(`${root}${path}`, 'utf8'))
  .join('\n');

it.each(Object.keys(failures))('%s is what somebody really says', (code) => {
  expect(sources).toContain(`'${code}'`);
});

it('words for tenants name no device, path or tool of the host', () => {
  const insides = /[0-9a-f]{4}:[0-9a-f]{2}|\/dev|nvme|pci|vfio|ovs|libvirt|qemu|mac\b|sudo/i;
  const words = [...Object.values(failures), ...Object.values(stageWords), failureWords('bind_failed')];
  for (const sentence of words) expect(sentence).not.toMatch(insides);
});

it('a host that said nothing in time is told apart from one that could not', () => {
  expect(failureWords('task_expired')).not.toBe(failureWords('bridge_missing'));
});
