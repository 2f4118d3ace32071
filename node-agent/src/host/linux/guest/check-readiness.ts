import type { VmPlan } from '../../../slices/plan-vm.ts';
import type { ReadinessResult } from '../../host.ts';
import type { GuestShell } from './first-login.ts';

type Check = VmPlan['readiness_checks'][number];
type Finding = Omit<ReadinessResult, 'check'>;

const checks: Record<Check, (shell: GuestShell, plan: VmPlan) => Promise<Finding>> = {
  async nvidia_driver(shell, plan) {
    const { code, output } = await shell.exec('nvidia-smi --list-gpus');
    if (code !== 0) return { passed: false, evidence: evidence(`nvidia-smi: ${output || `code ${code}`}`) };
    const listed = output.match(/^GPU \d+: /gm)?.length ?? 0;
    return {
      passed: listed === plan.slots.length,
      evidence: `nvidia-smi lists ${listed} of ${plan.slots.length} GPUs`,
    };
  },
  async cuda_toolkit(shell) {
    const { code, output } = await shell.exec('PATH=$PATH:/usr/local/cuda/bin nvcc --version');
    const release = /release ([\d.]+)/.exec(output)?.[1];
    if (code !== 0 || !release)
      return { passed: false, evidence: evidence(`nvcc: ${output || `code ${code}`}`) };
    const runs = /CUDA Version: (\d+\.\d+)/.exec((await shell.exec('nvidia-smi')).output)?.[1];
    const upTo = runs ? `the driver runs CUDA up to ${runs}` : 'the driver does not tell what it runs';
    return {
      // Within a major release an older driver works; it refuses programs built for a newer one.
      passed: runs !== undefined && majorOf(runs) >= majorOf(release),
      evidence: `nvcc reports release ${release}, ${upTo}`,
    };
  },
};

/** Runs the image's promised checks inside the guest. */
export async function checkReadiness(shell: GuestShell, plan: VmPlan): Promise<ReadinessResult[]> {
  const results: ReadinessResult[] = [
    { check: 'ssh', passed: true, evidence: evidence(`${plan.username} logged in; ${shell.greeting}`) },
  ];
  for (const check of plan.readiness_checks) results.push({ check, ...(await checks[check](shell, plan)) });
  return results;
}

function majorOf(release: string): number {
  return Number(release.split('.')[0]);
}

function evidence(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 300);
}
