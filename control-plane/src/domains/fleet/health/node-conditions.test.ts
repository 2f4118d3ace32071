import { describe, expect, it } from 'vitest';
import { nodeConditions, versionNumber, type ConditionInput } from './node-conditions.ts';

const slots = [0, 1].map((index) => ({
  id: `slot-${index}`,
  slot_index: index,
  gpu_pci_address: `gpu${index}`,
  fabric_vf_pci_address: `vf${index}`,
  gpu_model: 'H200-SXM-141GB',
  nvme_serial: `disk${index}`,
  nvme_device: `/dev/${index}`,
  ovs_port: `vm${index}`,
  management_mac: `mac${index}`,
  private_ip: `ip${index}`,
}));

const healthy: ConditionInput = {
  slots,
  observed: {
    gpus: slots.map((slot) => ({ pci_address: slot.gpu_pci_address, state: 'ok' as const })),
    disks: slots.map((slot) => ({ serial: slot.nvme_serial, mounts: [] })),
  },
  drift: [],
  agentVersion: '0.3.1',
  minimumAgentVersion: 0,
};

const gpuMissing = {
  slot_index: 1,
  slot_id: 'slot-1',
  kind: 'gpu_missing' as const,
  approved: 'gpu1',
  observed: null,
};

describe('what the evidence says of a host', () => {
  it('is nothing for a healthy one', () => {
    const { slotFaults, cordons, missing, failing } = nodeConditions(healthy);
    expect([slotFaults.size, cordons.size, missing, failing]).toEqual([0, 0, [], []]);
  });

  it.each([
    [
      'lost',
      [
        { pci_address: 'gpu0', state: 'ok' as const },
        { pci_address: 'gpu1', state: 'lost' as const },
      ],
    ],
    ['not listed', [{ pci_address: 'gpu0', state: 'ok' as const }]],
  ])('is a missing GPU and a cordon when it is %s', (_how, gpus) => {
    const found = nodeConditions({ ...healthy, observed: { ...healthy.observed, gpus } });
    expect([...found.slotFaults]).toEqual([['slot-1', 'Missing: GPU gpu1.']]);
    expect(found.cordons.get('gpu_missing')).toBe('1 of 2 approved GPUs are missing: GPU gpu1');
  });

  it('is a failing GPU with what the host said of it', () => {
    const gpus = [
      { pci_address: 'gpu0', state: 'failing' as const, detail: 'XID 79' },
      { pci_address: 'gpu1', state: 'ok' as const },
    ];
    const found = nodeConditions({ ...healthy, observed: { ...healthy.observed, gpus } });
    expect([...found.cordons]).toEqual([['gpu_unhealthy', 'GPU gpu0: XID 79']]);
    expect(found.slotFaults.get('slot-0')).toContain('XID 79');
  });

  it('is a missing disk without a cordon: the other slots can be sold', () => {
    const found = nodeConditions({ ...healthy, observed: { ...healthy.observed, disks: [] } });
    expect(found.missing).toHaveLength(2);
    expect(found.cordons.size).toBe(0);
  });

  it('follows the discovery only where the heartbeat is silent', () => {
    expect(nodeConditions({ ...healthy, drift: [gpuMissing] }).missing).toEqual([]);
    const silent = nodeConditions({ ...healthy, observed: {}, drift: [gpuMissing] });
    expect(silent.missing).toEqual([{ slot_index: 1, device: 'GPU gpu1' }]);
    expect(silent.cordons.has('gpu_missing')).toBe(true);
  });

  it('is a mounted disk that must not be sold, by the heartbeat before the discovery', () => {
    const mounted = { ...gpuMissing, kind: 'disk_mounted' as const, approved: 'disk1', observed: '/old' };
    const disks = [
      { serial: 'disk0', mounts: ['/srv'] },
      { serial: 'disk1', mounts: [] },
    ];
    const seen = nodeConditions({ ...healthy, observed: { ...healthy.observed, disks }, drift: [mounted] });
    expect([...seen.slotFaults]).toEqual([['slot-0', 'Mounted: disk disk0 on /srv.']]);
    expect(seen.cordons.size).toBe(0);
    const conditions = nodeConditions({ ...healthy, observed: {}, drift: [mounted] });
    expect([...conditions.slotFaults]).toEqual([['slot-1', 'Mounted: disk disk1 on /old.']]);
  });

  it.each([
    ['gpu_left_out' as const, 'gpu1', 'its IOMMU group 4 also holds a NIC', /^Unfit: GPU gpu1: its IOMMU/],
    ['binding_changed' as const, 'gpu_model A', 'gpu_model B', /^Changed: gpu_model B, approved was/],
  ])('is a slot that must not be sold under %s', (kind, approved, observed, fault) => {
    const drift = [{ ...gpuMissing, kind, approved, observed }];
    expect(nodeConditions({ ...healthy, drift }).slotFaults.get('slot-1')).toMatch(fault);
  });

  it.each([
    ['0.3.1', 301, false],
    ['0.3.1', 302, true],
    ['0.10.0', 302, false],
    ['dev', 302, false],
  ])('agent %s against %s: outdated is %s', (agentVersion, minimumAgentVersion, outdated) => {
    const { cordons } = nodeConditions({ ...healthy, agentVersion, minimumAgentVersion });
    expect(cordons.has('agent_outdated')).toBe(outdated);
  });

  it('reads versions', () => {
    expect(['1.2.3', 'v10.0.1', 'dev', null].map(versionNumber)).toEqual([10_203, 100_001, null, null]);
  });
});

describe('a prerequisite check', () => {
  const ready = { ready: true, reboot_required: false, checked_at: '2026-11-18T00:00:00Z', checks: [] };
  const check = (state: 'ok' | 'missing' | 'unknown') =>
    ({ id: 'iommu', state, evidence: '0 groups', remedy: null }) as const;
  const cordon = (readiness: ConditionInput['readiness']) =>
    nodeConditions({ ...healthy, readiness: readiness ?? null }).cordons.get('not_ready') ?? null;

  it('cordons a host that misses something, and no other', () => {
    expect(cordon(null)).toBeNull();
    expect(cordon({ ...ready, checks: [check('ok')] })).toBeNull();
    for (const state of ['missing', 'unknown'] as const)
      expect(cordon({ ...ready, checks: [check(state)] })).toBe('Not ready for slices: iommu: 0 groups');
    expect(cordon({ ...ready, reboot_required: true })).toContain('reboot_required');
    expect(cordon({ ...ready, ready: false })).not.toBeNull();
  });
});

it('takes a slot out of sale whose GPU left vfio-pci', () => {
  const unbound = {
    slot_index: 1,
    slot_id: 'slot-1',
    kind: 'driver_changed' as const,
    approved: 'vfio-pci',
    observed: 'nvidia',
  };
  const { slotFaults } = nodeConditions({ ...healthy, drift: [unbound] });
  expect([...slotFaults]).toEqual([['slot-1', 'Unbound: GPU gpu1 is bound to nvidia, not to vfio-pci.']]);
});
