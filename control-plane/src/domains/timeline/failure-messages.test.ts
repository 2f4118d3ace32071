import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { allocationTimeline, taskMessages } from '@gpuaas/contracts/generated/stages.ts';
import { failureMessages, failureMessageFor } from './failure-messages.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const sources = globSync(['node-agent/src/**/*.ts', 'control-plane/src/**/*.ts'], { cwd: root })
  .filter((path) => !/test|failure-messages/.test(path))
  .map((path) => readFileSync(`${root}${path}`, 'utf8'))
  .join('\n');

it.each(Object.keys(failureMessages))('%s is an error code that the code uses', (code) => {
  expect(sources).toContain(`'${code}'`);
});

it('texts for tenants name no device, path or tool of the host', () => {
  const insides = /[0-9a-f]{4}:[0-9a-f]{2}|\/dev|nvme|pci|vfio|ovs|libvirt|qemu|mac\b|sudo/i;
  const words = [
    ...Object.values(failureMessages),
    ...Object.values(taskMessages).flatMap((messages) => Object.values(messages)),
    ...allocationTimeline.sections.flatMap(({ variants }) =>
      Object.values(variants).flatMap((steps) => steps.map(({ title }) => title)),
    ),
    failureMessageFor('bind_failed'),
  ];
  for (const sentence of words) expect(sentence).not.toMatch(insides);
});

it('a silent host has another text than one that failed', () => {
  expect(failureMessageFor('task_expired')).not.toBe(failureMessageFor('bridge_missing'));
});
