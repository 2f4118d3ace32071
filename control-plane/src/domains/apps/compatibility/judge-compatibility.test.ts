import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeCompatibility, type Compatibility } from './judge-compatibility.ts';
import { appProfiles } from './profiles.ts';

const slice = { shape: 'gpu_slice', gpuCount: 1, hasRoot: true } as const;
const host = { shape: 'baremetal', gpuCount: 8, hasRoot: false } as const;

const anyApp: Compatibility = {
  requires_capacity_shape: ['baremetal', 'gpu_slice'],
  min_gpu_count: 0,
  requires_exclusive_node: false,
  needs_root: false,
};

describe('the compatibility of apps', () => {
  it.each([
    ['Launchable OCI / Jupyter / vLLM single-node', true, true],
    ['Slurm single-node', true, true],
    ['Slurm multi-allocation (controller + remote workers)', true, true],
    ['Slurm multi-node (cross-network cluster)', false, true],
    ['RKE2 self-managed single-allocation', true, true],
    ['Multi-node Kubernetes cluster', false, true],
  ] as const)('of %s is %s on a slice and %s on a whole host', (profile, onSlice, onHost) => {
    const { compatibility } = appProfiles[profile];
    expect(judgeCompatibility(compatibility, slice).length === 0).toBe(onSlice);
    expect(judgeCompatibility(compatibility, host).length === 0).toBe(onHost);
  });

  it('has a row for every profile of the table', () => {
    expect(Object.keys(appProfiles)).toHaveLength(6);
  });

  it('names every refusal', () => {
    const app = { ...anyApp, min_gpu_count: 4, requires_exclusive_node: true };
    expect(judgeCompatibility(app, slice).map(({ code }) => code)).toEqual(['gpu_count', 'exclusive_node']);
    expect(judgeCompatibility({ ...anyApp, needs_root: true }, host).map(({ code }) => code)).toEqual([
      'root',
    ]);
    expect(judgeCompatibility({ ...anyApp, needs_root: true }, slice)).toEqual([]);
  });

  it('never refuses more for capacity that has more', () => {
    const apps = fc.record({
      requires_capacity_shape: fc.constantFrom(['baremetal'], ['gpu_slice'], ['baremetal', 'gpu_slice']),
      min_gpu_count: fc.nat(8),
      requires_exclusive_node: fc.boolean(),
      needs_root: fc.boolean(),
    }) as fc.Arbitrary<Compatibility>;
    const targets = fc.record({
      shape: fc.constantFrom('baremetal' as const, 'gpu_slice' as const),
      gpuCount: fc.nat(8),
      hasRoot: fc.boolean(),
    });
    fc.assert(
      fc.property(apps, targets, (app, target) => {
        const more = { ...target, gpuCount: target.gpuCount + 1, hasRoot: true };
        const codes = judgeCompatibility(app, target).map(({ code }) => code);
        for (const { code } of judgeCompatibility(app, more)) expect(codes).toContain(code);
      }),
    );
  });
});
