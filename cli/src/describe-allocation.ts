import type { components } from '@gpuaas/sdk/contract';
import { money } from './table.ts';

type Allocation = components['schemas']['Allocation'];

export function describeAllocation(allocation: Allocation): string {
  const lines = [
    `${allocation.name}  ${stateOf(allocation)}`,
    `  id        ${allocation.id}`,
    `  gpus      ${allocation.gpu_count} × ${allocation.sku} in ${allocation.region}`,
    `  price     ${money(allocation.quote.per_hour)} per hour`,
    `  cost      ${money(allocation.cost_so_far)}`,
  ];
  if (allocation.ends_at) lines.push(`  ends      ${allocation.ends_at}`);
  if (allocation.queue) {
    const { position, detail, expected_at } = allocation.queue;
    lines.push(`  queue     ${position === null ? 'pending' : `position ${position}`}  ${detail}`.trimEnd());
    if (expected_at) lines.push(`  expected  ${expected_at}`);
  }
  if (allocation.failure) lines.push(`  failure   ${allocation.failure.code}: ${allocation.failure.detail}`);
  return lines.join('\n');
}

/** The release may be recorded before its work has begun. */
function stateOf({ state, release_requested_at: requestedAt }: Allocation): string {
  return requestedAt !== null && !['releasing', 'released', 'release_failed'].includes(state)
    ? `${state}, release requested`
    : state;
}
