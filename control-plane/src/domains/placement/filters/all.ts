import { completeSlots } from './complete-slots.ts';
import { connected } from './connected.ts';
import type { Filter } from './filter.ts';
import { enoughFreeSlots } from './enough-free-slots.ts';
import { gpuModel } from './gpu-model.ts';
import { healthySlots } from './healthy-slots.ts';
import { nodeMode } from './node-mode.ts';
import { nodeSize } from './node-size.ts';
import { notCordoned } from './not-cordoned.ts';
import { notDraining } from './not-draining.ts';
import { notPromised } from './not-promised.ts';
import { region } from './region.ts';

/** In the order in which they are applied; a node counts under the first that rejects it. */
export const filters: readonly Filter[] = [
  region,
  gpuModel,
  nodeMode,
  nodeSize,
  connected,
  notDraining,
  notCordoned,
  notPromised,
  enoughFreeSlots,
  completeSlots,
  healthySlots,
];
