import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CAPABILITIES, unitFile } from './service-files.ts';

const unit = unitFile(['/usr/bin/node', '/opt/agent/main.ts']);
const HANDBOOK = new URL('../../../docs/handbook/real-hosts.md', import.meta.url);

it('the service has exactly the documented capabilities', () => {
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

it('each capability has a documented reason', () => {
  const handbook = readFileSync(HANDBOOK, 'utf8');
  for (const [name, reason] of Object.entries(CAPABILITIES))
    expect(handbook, name).toContain(`| \`${name}\` | ${reason} |`);
});

it('the sandbox leaves the agent everything it needs', () => {
  // Each of these would block access to devices in /sys, to leftovers anywhere, or to JIT code.
  expect(unit).not.toMatch(
    /ProtectKernelTunables|ProtectHome|PrivateTmp|PrivateDevices|MemoryDenyWriteExecute/,
  );
  expect(unit).toContain('KillMode=process');
});
