import { createHash } from 'node:crypto';
import type { VmPlan } from '../../../slices/plan-vm.ts';

/** What the machine of an allocation is called on its host. */
export function domainName(allocationId: string): string {
  return `gpuaas-${allocationId}`;
}

export function allocationOf(domain: string): string | null {
  return /^gpuaas-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(domain)?.[1] ?? null;
}

/** Tells whether a machine was made for exactly this plan. */
export function planDigest(plan: VmPlan): string {
  return createHash('sha256').update(JSON.stringify(plan)).digest('hex');
}
