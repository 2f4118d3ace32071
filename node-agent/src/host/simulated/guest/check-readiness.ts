import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VmPlan } from '../../../slices/plan-vm.ts';
import type { ReadinessResult } from '../../host.ts';

type Check = VmPlan['readiness_checks'][number];

const checks: Record<Check, (bin: string, plan: VmPlan) => Promise<Omit<ReadinessResult, 'check'>>> = {
  async nvidia_driver(bin, plan) {
    const tool = await readFile(join(bin, 'nvidia-smi'), 'utf8').catch(() => null);
    if (tool === null) return { passed: false, evidence: 'nvidia-smi is not in the image' };
    const listed = tool.match(/^GPU \d+: /gm)?.length ?? 0;
    return {
      passed: listed === plan.slots.length,
      evidence: `nvidia-smi lists ${listed} of ${plan.slots.length} GPUs`,
    };
  },
  async cuda_toolkit(bin) {
    const tool = await readFile(join(bin, 'nvcc'), 'utf8').catch(() => null);
    const release = /release (\S+)/.exec(tool ?? '')?.[1];
    return release
      ? { passed: true, evidence: `nvcc reports release ${release}` }
      : { passed: false, evidence: 'nvcc is not in the image' };
  },
};

/** The image's promised checks, as found inside the guest. */
export async function checkReadiness(guestFolder: string, plan: VmPlan): Promise<ReadinessResult[]> {
  const bin = join(guestFolder, 'system', 'bin');
  return await Promise.all(
    plan.readiness_checks.map(async (check) => ({ check, ...(await checks[check](bin, plan)) })),
  );
}
