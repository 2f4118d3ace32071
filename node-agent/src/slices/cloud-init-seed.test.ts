import { expect, it } from 'vitest';
import { NETWORK_PROFILES } from '../host/linux/network/profiles.ts';
import { provisionParams } from '../testing/slots.ts';
import { userData, type HostUserData } from './cloud-init-seed.ts';
import { planVm } from './plan-vm.ts';

const params = provisionParams('hgx-01', [0], ['ssh-ed25519 AAAA tenant']);
const host: HostUserData = {
  hostKey: { private: 'PRIVATE', public: 'ssh-ed25519 BBBB' },
  firstLogin: 'ssh-ed25519 CCCC first',
};
const tuned: HostUserData = { ...host, sysctls: NETWORK_PROFILES.throughput.guestSysctls };

/** Name and text of each part, as cloud-init would unpack the message. */
function partsOf(message: string): [string, string][] {
  return message
    .split(/^--gpuaas-user-data.*$/m)
    .slice(1, -1)
    .map((part) => {
      const [head = '', body = ''] = part.trim().split('\n\n');
      const type = /text\/([\w-]+)/.exec(head)?.[1] ?? '';
      return [type, Buffer.from(body, 'base64').toString('utf8')];
    });
}

it('is plain without tenant data, also in the standard network profile', () => {
  const standard = { ...host, sysctls: NETWORK_PROFILES.standard.guestSysctls };
  for (const part of [null, host, standard])
    expect(userData(planVm(params), part)).toMatch(/^#cloud-config\n/);
});

it('tunes the guest by a separate hook that overrides no key of the tenant', () => {
  const plan = planVm({ ...params, user_data: '#cloud-config\nbootcmd:\n  - [touch, /run/mine]\n' });
  const parts = partsOf(userData(plan, tuned));
  expect(parts.map(([type]) => type)).toEqual(['cloud-config', 'cloud-boothook', 'cloud-config']);
  expect(parts[0]?.[1]).toContain('/run/mine');
  expect(parts[1]?.[1]).toMatch(
    /^#cloud-boothook\n#!\/bin\/sh\nsysctl --quiet --write 'net\.core\.rmem_max=67108864' /,
  );
  expect(parts[2]?.[1]).toContain('ssh-ed25519 CCCC first');
  expect(parts[2]?.[1]).not.toContain('bootcmd');
});
