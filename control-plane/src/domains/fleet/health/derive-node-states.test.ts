import { describe, expect, it } from 'vitest';
import { deriveNodeStates, type NodeStatesInput } from './derive-node-states.ts';

const sound: NodeStatesInput = {
  draining: false,
  connection: 'connected',
  cordons: [],
  observed: {},
  openTasks: [],
  projected: null,
};
const of = (change: Partial<NodeStatesInput>) => deriveNodeStates({ ...sound, ...change });
const because = (...reasons: NodeStatesInput['cordons'][number]['reason'][]) => ({
  cordons: reasons.map((reason) => ({ reason })),
});

describe('the four states of a host', () => {
  it('are each derived from their own source', () => {
    expect(of({})).toEqual({
      desired: 'in_service',
      observed: 'healthy',
      execution: 'idle',
      projected: null,
    });
  });

  it.each([
    [{ draining: true }, 'draining'],
    [because('maintenance'), 'maintenance'],
    [{ draining: true, ...because('maintenance') }, 'maintenance'],
    [because('burn_in', 'gpu_missing'), 'in_service'],
  ] as const)('desired is what operators said: %j', (change, desired) => {
    expect(of(change).desired).toBe(desired);
  });

  it.each([
    [{ connection: 'never_seen' }, 'never_seen'],
    [{ connection: 'unreachable', ...because('gpu_missing') }, 'unreachable'],
    [because('gpu_missing'), 'degraded'],
    [because('gpu_unhealthy'), 'degraded'],
    [because('agent_outdated'), 'degraded'],
    [because('burn_in', 'maintenance'), 'healthy'],
    [{ observed: { gpus: [{ pci_address: 'a', state: 'ok' }] } }, 'healthy'],
    [{ observed: { gpus: [{ pci_address: 'a', state: 'failing' }] } }, 'degraded'],
    [{ observed: { gpus: [{ pci_address: 'a', state: 'lost' }] } }, 'degraded'],
  ] as const)('observed is what the host shows: %j', (change, observed) => {
    expect(of(change as Partial<NodeStatesInput>).observed).toBe(observed);
  });

  it('execution is the task that runs, or that one waits', () => {
    const queued = { kind: 'slice.prereq_check', state: 'queued' };
    const running = { kind: 'slice.vm_release', state: 'claimed' };
    expect(of({ openTasks: [queued] }).execution).toBe('queued');
    expect(of({ openTasks: [queued, running] }).execution).toBe('slice.vm_release');
  });

  it('projected is the state last shown in lists, whatever the current one', () => {
    const projectedAt = new Date('2026-01-02T03:04:05Z');
    const projected = { posture: 'fully_available', projectedAt } as const;
    expect(of({ connection: 'unreachable', projected })).toMatchObject({
      observed: 'unreachable',
      projected: { posture: 'fully_available', projected_at: '2026-01-02T03:04:05.000Z' },
    });
  });
});
