import type { components } from '@gpuaas/contracts/generated/openapi.ts';

export type LabHost = components['schemas']['LabHost'];
export type LabFault = components['schemas']['LabFault'];

/**
 * Hands at the simulated machines. No fault goes through the agents' port: a real agent knows no such request, and a
 * host whose network is cut could not be mended through it (docs/decisions/0006-lab-faults.md).
 */
export interface Lab {
  /** By name. */
  hostnames(): Promise<string[]>;
  faultsOf(hostname: string): Promise<LabFault[]>;
  setFaults(hostname: string, faults: readonly LabFault[]): Promise<void>;
}
