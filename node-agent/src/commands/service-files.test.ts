import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CAPABILITIES, unitFile } from './service-files.ts';

const unit = unitFile(['/usr/bin/node', '/opt/agent/main.ts']);
const HANDBOOK = new URL('../../../docs/handbook/real-hosts.md', import.meta.url);

it('the service has the power that is accounted for, and no other', () => {
  const granted = /^CapabilityBoundingSet=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];
  expect(granted).toEqual(Object.keys(CAPABILITIES));
  // With one of these the rest of the list would be for show.
  for (const never of [
    'CAP_SYS_MODULE',
    'CAP_SYS_BOOT',
    'CAP_SYS_RAWIO',
    'CAP_BPF',
    'CAP_SETPCAP',
    'CAP_MAC_ADMIN',
  ])
    expect(granted).not.toContain(never);
});

it('operators read what each of them is for', () => {
  const handbook = readFileSync(HANDBOOK, 'utf8');
  for (const [name, reason] of Object.entries(CAPABILITIES))
    expect(handbook, name).toContain(`| \`${name}\` | ${reason} |`);
});

it('what the agent needs is not taken away', () => {
  // Each of these would keep it from devices in /sys, from leftovers anywhere, or from its own machine code.
  expect(unit).not.toMatch(
    /ProtectKernelTunables|ProtectHome|PrivateTmp|PrivateDevices|MemoryDenyWriteExecute/,
  );
  expect(unit).toContain('KillMode=process');
});
