import type { AppTarget } from '../../api/types.ts';

type Judged = Pick<AppTarget, 'refusals' | 'gate'>;

/** Why an app cannot be launched on an allocation; null when it can, now or later. */
export function targetRefusal({ refusals, gate }: Judged): string | null {
  if (refusals.length > 0) return refusals.map(({ message }) => message).join(' ');
  return gate?.outcome === 'reject' ? gate.message : null;
}

/** The allocation that is asked for if it can be used, else the first where the app starts, or would wait. */
export function chooseTarget(targets: readonly AppTarget[], asked: string | undefined): AppTarget | null {
  const usable = targets.filter((target) => targetRefusal(target) === null);
  return (
    usable.find(({ allocation_id: id }) => id === asked) ??
    usable.find(({ gate }) => gate === null) ??
    usable[0] ??
    null
  );
}
