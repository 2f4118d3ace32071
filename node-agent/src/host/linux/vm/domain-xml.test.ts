import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { domainXml, type DomainFacts } from './domain-xml.ts';

const slice: DomainFacts = {
  name: 'gpuaas-0198a000-0000-7000-8000-000000000001',
  uuid: '0198a000-0000-7000-8000-000000000001',
  planDigest: 'ab'.repeat(32),
  accelerator: 'kvm',
  firmware: 'uefi',
  vcpu: 4,
  memoryGib: 480,
  locality: { numaNodes: [0], pins: [0, 1, 2, 3] },
  hugepages: true,
  disks: [
    { node: '/dev/nvme8n1', serial: 'S6CKN0T300000' },
    { node: '/dev/nvme7n1', serial: 'S6CKN0T300001' },
  ],
  seedIso: '/var/lib/gpuaas/slices/0198a000-0000-7000-8000-000000000001/seed.iso',
  consoleLog: '/var/lib/gpuaas/slices/0198a000-0000-7000-8000-000000000001/console.log',
  network: {
    bridge: 'ovsbr0',
    port: 'gs74c0c5p0',
    mac: '52:54:c1:30:e2:10',
    interfaceId: '0198a000-0000-7000-8000-0000000000aa',
    offloads: true,
    mtu: 1500,
    queues: 1,
  },
  passthrough: ['0000:1b:00.0', '0000:18:00.1', '0000:43:00.0', '0000:40:00.1'],
};

const lab: DomainFacts = {
  ...slice,
  accelerator: 'tcg',
  firmware: 'bios',
  locality: null,
  hugepages: false,
  passthrough: [],
  network: { ...slice.network, offloads: false },
};

const tuned: DomainFacts = { ...slice, network: { ...slice.network, mtu: 9000, queues: 4 } };

describe('the machine as libvirt reads it', () => {
  it.each([
    ['slice-of-two', slice],
    ['emulated', lab],
    ['tuned', tuned],
  ])('%s', async (name, facts) => {
    await expect(domainXml(facts)).toMatchFileSnapshot(`golden/${name}.xml`);
  });

  it('lets no value become markup', () => {
    const xml = domainXml({ ...lab, seedIso: `/x'/><graphics type='vnc'/>&` });
    expect(xml).not.toContain('<graphics');
    expect(xml).toContain(`/x&apos;/&gt;&lt;graphics type=&apos;vnc&apos;/&gt;&amp;`);
  });

  it('opens no console to a network', () => {
    expect(domainXml(slice)).not.toMatch(/graphics|vnc|spice|tcp|telnet/);
  });

  it('is valid by the schema of libvirt (needs virt-xml-validate)', (ctx) => {
    if (!installed('virt-xml-validate')) return ctx.skip('needs virt-xml-validate of libvirt-clients');
    for (const facts of [slice, lab, tuned]) {
      execFileSync('virt-xml-validate', ['-', 'domain'], { input: domainXml(facts), stdio: 'pipe' });
    }
  });
});

function installed(tool: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${tool} && command -v xmllint`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
