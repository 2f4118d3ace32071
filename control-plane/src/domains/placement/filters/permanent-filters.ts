import { connected } from './connected.ts';
import type { Filter } from './filter.ts';
import { gpuModel } from './gpu-model.ts';
import { nodeMode } from './node-mode.ts';
import { nodeSize } from './node-size.ts';
import { notCordoned } from './not-cordoned.ts';
import { notDraining } from './not-draining.ts';
import { region } from './region.ts';

/** Filters that waiting for leases and holds to end does not change. */
export const permanentFilters: readonly Filter[] = [
  region,
  gpuModel,
  nodeMode,
  nodeSize,
  connected,
  notDraining,
  notCordoned,
];
