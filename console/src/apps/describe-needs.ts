import type { AppCompatibility } from '../api/types.ts';
import { pluralize } from '../format/humanize.ts';

/** Which capacity an app needs, as a card says it. */
export function describeNeeds(app: AppCompatibility): string[] {
  const { requires_capacity_shape: shapes, min_gpu_count: gpus } = app;
  const isWhole = app.requires_exclusive_node || !shapes.includes('gpu_slice');
  const onlySlice = !isWhole && !shapes.includes('baremetal');
  return [
    isWhole ? 'Whole host' : onlySlice ? 'GPU slice' : 'Slice or whole host',
    ...(gpus > 0 ? [`${pluralize(gpus, 'GPU')} or more`] : []),
    ...(app.needs_root ? ['Root in the machine'] : []),
  ];
}
