import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { MaasMachine } from '../../../platform/maas/machine.ts';
import { importBlocker, planReturn, planStep, type Intent } from './plan-step.ts';
import { profileOf } from './profiles.ts';
import { buildUserData } from './user-data.ts';

const intent: Intent = {
  profile: 'slice_vm',
  user: 'gpuaas',
  before: { commissioningSet: 7, testingSet: null },
};

function machine(change: Partial<MaasMachine> = {}): MaasMachine {
  return {
    systemId: 'abc',
    hostname: 'gpu-1',
    status: 'ready',
    statusMessage: '',
    owner: null,
    tags: [],
    powerState: 'off',
    architecture: 'amd64/generic',
    cpuCount: 1,
    memoryMib: 1,
    pool: 'default',
    zone: 'default',
    vendor: null,
    product: null,
    serial: null,
    commissioningSet: 7,
    testingSet: null,
    ...change,
  };
}

describe('a step', () => {
  it.each([
    ['tag', {}, 'act'],
    ['tag', { tags: ['gpuaas-profile-slice-vm'] }, 'finish'],
    ['tag', { tags: ['gpuaas-profile-slice-vm', 'gpuaas-profile-baremetal'] }, 'act'],
    // Ready from an earlier commissioning is not enough.
    ['commission', { status: 'ready' }, 'act'],
    ['commission', { status: 'commissioning', commissioningSet: 8 }, 'wait'],
    ['commission', { status: 'ready', commissioningSet: 8 }, 'finish'],
    ['test', { status: 'ready' }, 'act'],
    ['test', { status: 'testing', testingSet: 9 }, 'wait'],
    ['test', { status: 'ready', testingSet: 9 }, 'finish'],
    ['allocate', {}, 'act'],
    ['allocate', { status: 'allocated', owner: 'gpuaas' }, 'finish'],
    ['deploy', { status: 'allocated', owner: 'gpuaas' }, 'act'],
    ['deploy', { status: 'deploying', owner: 'gpuaas' }, 'wait'],
    ['deploy', { status: 'deployed', owner: 'gpuaas' }, 'finish'],
  ] as const)('%s of a machine with %o: %s', (step, change, plan) => {
    expect(planStep(step, machine(change as Partial<MaasMachine>), intent)).toBe(plan);
  });

  it.each([
    ['commission', { status: 'deployed' }],
    ['commission', { status: 'failed_commissioning', commissioningSet: 8 }],
    ['commission', { status: 'unknown' }],
    ['test', { status: 'failed_testing', testingSet: 9 }],
    ['allocate', { status: 'allocated', owner: 'somebody' }],
    ['deploy', { status: 'deployed', owner: 'somebody' }],
    ['deploy', { status: 'failed_deployment', owner: 'gpuaas' }],
    ['deploy', { status: 'ready' }],
  ] as const)('%s of a machine with %o fails', (step, change) => {
    expect(planStep(step, machine(change as Partial<MaasMachine>), intent)).toEqual({
      fail: expect.any(String),
    });
  });
});

it.each([
  [{ status: 'commissioning' }, 'abort'],
  [{ status: 'testing' }, 'abort'],
  [{ status: 'deploying', owner: 'gpuaas' }, 'release'],
  [{ status: 'failed_deployment', owner: 'gpuaas' }, 'release'],
  [{ status: 'releasing', owner: 'gpuaas' }, 'wait'],
  [{ status: 'ready' }, 'finish'],
  [{ status: 'deployed', owner: 'somebody' }, 'finish'],
] as const)('on the way back a machine with %o: %s', (change, plan) => {
  expect(planReturn(machine(change as Partial<MaasMachine>), 'gpuaas')).toBe(plan);
});

it('imports only unallocated machines at rest', () => {
  expect(importBlocker(machine())).toBeNull();
  expect(importBlocker(machine({ owner: 'somebody' }))).toContain('somebody');
  expect(importBlocker(machine({ status: 'deploying' }))).toContain('deploying');
  expect(importBlocker(machine({ hostname: `a${'b'.repeat(63)}` }))).toContain('host name');
  expect(profileOf(['gpuaas-profile-slice-vm', 'gpuaas-profile-baremetal'])).toBeNull();
});

describe('user-data', () => {
  const deployment = {
    nodeUrl: 'https://gpuaas.example:8443',
    distroSeries: null,
    agentSetup: 'echo \'hostile\' "$(id)"\n# SETUP\n',
    commissioningScripts: null,
    testingScripts: null,
  };
  const host = { hostname: 'gpu-1', token: `gpe_it's.me` };

  it.each(['slice_vm', 'baremetal'] as const)('for %s is a script that bash understands', (profile) => {
    const script = buildUserData({ ...host, profile }, deployment);
    execFileSync('bash', ['-n'], { input: script });
    expect(script.includes('bootstrap')).toBe(profile === 'slice_vm');
  });

  it('runs the set-up, then the agent with the token in its environment alone', () => {
    const script = buildUserData({ ...host, profile: 'baremetal' }, deployment);
    const agent = `gpuaas-node-agent() { echo "agent $* with \${GPUAAS_AGENT_TOKEN:-}"; }\nexport -f gpuaas-node-agent\n`;
    const said = execFileSync('bash', [], { input: agent + script, encoding: 'utf8' });
    expect(said).toContain('hostile uid=');
    expect(said).toContain('agent firmware --profile baremetal --apply with \n');
    expect(said).toContain(
      `agent install --server https://gpuaas.example:8443 --hostname gpu-1 with gpe_it's.me\n`,
    );
  });
});
