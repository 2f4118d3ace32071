import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Capacity } from '../../allocations/capacity.ts';

export type Compatibility = components['schemas']['AppCompatibility'];
export type Refusal = components['schemas']['AppRefusal'];

/**
 * Whether an app can run on an allocation; empty if it can. The one judge: pickers show it, the dry run answers with it,
 * and a launch is refused by it.
 */
export function judgeCompatibility(
  app: Compatibility,
  target: Pick<Capacity, 'shape' | 'gpuCount' | 'hasRoot'>,
): Refusal[] {
  const refusals: Refusal[] = [];
  if (!app.requires_capacity_shape.includes(target.shape))
    refusals.push({
      code: 'capacity_shape',
      message: `The app runs on ${app.requires_capacity_shape.join(' or ')}, and this is ${target.shape}.`,
    });
  if (target.gpuCount < app.min_gpu_count)
    refusals.push({
      code: 'gpu_count',
      message: `The app needs ${app.min_gpu_count} GPUs, and the allocation has ${target.gpuCount}.`,
    });
  if (app.requires_exclusive_node && target.shape !== 'baremetal')
    refusals.push({
      code: 'exclusive_node',
      message: 'The app needs a whole host, and a slice shares its host.',
    });
  if (app.needs_root && !target.hasRoot)
    refusals.push({ code: 'root', message: 'The app needs root, and the lease of this host has none.' });
  return refusals;
}
