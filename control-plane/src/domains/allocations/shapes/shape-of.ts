import type { AllocationRow } from '../transition-allocation.ts';
import { baremetal } from './baremetal.ts';
import type { Shape } from './shape.ts';
import { slice } from './slice.ts';

const SHAPES: Readonly<Record<AllocationRow['capacity_shape'], Shape>> = { gpu_slice: slice, baremetal };

export function shapeOf({ capacity_shape }: Pick<AllocationRow, 'capacity_shape'>): Shape {
  return SHAPES[capacity_shape];
}
