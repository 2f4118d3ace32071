import { describe, expect, it } from 'vitest';
import type { VmPlan } from '../../../slices/plan-vm.ts';
import { checkReadiness } from './check-readiness.ts';
import type { GuestShell } from './first-login.ts';

const GPUS = 'GPU 0: NVIDIA H200 (UUID: GPU-1)\nGPU 1: NVIDIA H200 (UUID: GPU-2)';
const NVCC = 'nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.48';
const driver = (cuda: string): string =>
  `| NVIDIA-SMI 580.65.06    Driver Version: 580.65.06    CUDA Version: ${cuda}    |`;

interface Guest {
  gpus?: string;
  nvcc?: string | null;
  driver?: string;
}

/** Runs the checks in a guest with two GPUs and a developer image. */
async function runChecks({ gpus = GPUS, nvcc = NVCC, driver: smi = driver('13.0') }: Guest = {}) {
  const shell = {
    greeting: 'SSH-2.0-OpenSSH_9.6',
    async exec(command: string) {
      if (command.includes('nvcc')) return { code: nvcc === null ? 127 : 0, output: nvcc ?? 'not found' };
      return { code: 0, output: command.includes('--list-gpus') ? gpus : smi };
    },
  } as GuestShell;
  const plan = {
    username: 'ubuntu',
    slots: [{}, {}],
    readiness_checks: ['nvidia_driver', 'cuda_toolkit'],
  } as unknown as VmPlan;
  const results = await checkReadiness(shell, plan);
  return Object.fromEntries(results.map(({ check, passed, evidence }) => [check, { passed, evidence }]));
}

describe('the checks of an image in its guest', () => {
  it('pass if every GPU is listed and the driver supports the toolkit', async () => {
    expect(await runChecks()).toMatchObject({
      ssh: { passed: true },
      nvidia_driver: { passed: true, evidence: 'nvidia-smi lists 2 of 2 GPUs' },
      cuda_toolkit: { passed: true },
    });
    expect(await runChecks({ driver: driver('13.2') })).toMatchObject({ cuda_toolkit: { passed: true } });
  });

  it('fail for a missing GPU and a missing toolkit', async () => {
    expect(await runChecks({ gpus: 'GPU 0: NVIDIA H200 (UUID: GPU-1)' })).toMatchObject({
      nvidia_driver: { passed: false, evidence: 'nvidia-smi lists 1 of 2 GPUs' },
    });
    expect(await runChecks({ nvcc: null })).toMatchObject({ cuda_toolkit: { passed: false } });
  });

  it('fail for a driver too old for the toolkit, with both releases', async () => {
    const { cuda_toolkit } = await runChecks({ driver: driver('12.2') });
    expect(cuda_toolkit).toEqual({
      passed: false,
      evidence: 'nvcc reports release 13.0, the driver runs CUDA up to 12.2',
    });
    expect(await runChecks({ driver: 'N/A' })).toMatchObject({
      cuda_toolkit: { passed: false, evidence: expect.stringContaining('does not tell') },
    });
  });
});
