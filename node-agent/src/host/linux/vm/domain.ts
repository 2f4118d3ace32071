import { createHash } from 'node:crypto';
import type { VmPlan } from '../../../slices/plan-vm.ts';

/** Name of an allocation's machine on its host. */
export function domainName(allocationId: string): string {
  return `gpuaas-${allocationId}`;
}

export function allocationIdOf(domain: string): string | null {
  return /^gpuaas-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(domain)?.[1] ?? null;
}

/** Identifies the plan that a machine was created for. */
export function planDigest(plan: VmPlan): string {
  return createHash('sha256').update(JSON.stringify(plan)).digest('hex');
}
