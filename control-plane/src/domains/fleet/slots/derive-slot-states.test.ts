import { describe, expect, it } from 'vitest';
import { deriveSlotStates, type SlotStatesInput } from './derive-slot-states.ts';

const slot: SlotStatesInput['slot'] = {
  id: 's1',
  desired_state: 'for_sale',
  gpu_pci_address: 'g1',
  nvme_serial: 'd1',
};
const devices: SlotStatesInput['observed'] = {
  leases: [],
  gpus: [{ pci_address: 'g1', state: 'ok' }],
  disks: [{ serial: 'd1', mounts: [] }],
};
const sound: SlotStatesInput = { slot, connected: true, observed: devices, execution: null, projected: null };
const observedWith = (change: SlotStatesInput['observed']) =>
  deriveSlotStates({ ...sound, observed: { ...devices, ...change } }).observed;

describe('the four states of a slot', () => {
  it('are each derived from their own source', () => {
    const projected = { state: 'in_use', projectedAt: new Date(0) } as const;
    const held = { ...slot, desired_state: 'disabled' } as const;
    expect(deriveSlotStates({ ...sound, slot: held, execution: 'releasing', projected })).toEqual({
      desired: 'disabled',
      observed: 'vacant',
      execution: 'releasing',
      projected: { state: 'in_use', projected_at: '1970-01-01T00:00:00.000Z' },
    });
    expect(deriveSlotStates(sound)).toMatchObject({ execution: 'idle', projected: null });
  });

  it("a lease on the host occupies the slot, whatever the platform's rows say", () => {
    expect(observedWith({ leases: [{ slot_id: 's1', allocation_id: 'a' }] })).toBe('occupied');
    expect(observedWith({ leases: [{ slot_id: 's2', allocation_id: 'a' }] })).toBe('vacant');
  });

  it('a device that is gone or fails comes before the lease', () => {
    const leases = [{ slot_id: 's1', allocation_id: 'a' }];
    expect(observedWith({ leases, gpus: [] })).toBe('missing');
    expect(observedWith({ leases, gpus: [{ pci_address: 'g1', state: 'lost' }] })).toBe('missing');
    expect(observedWith({ leases, disks: [] })).toBe('missing');
    expect(observedWith({ leases, gpus: [{ pci_address: 'g1', state: 'failing' }] })).toBe('failing');
  });

  it('nothing is known about an unreachable host, or one that reported nothing', () => {
    expect(deriveSlotStates({ ...sound, connected: false }).observed).toBe('unknown');
    expect(deriveSlotStates({ ...sound, observed: {} }).observed).toBe('unknown');
  });
});
