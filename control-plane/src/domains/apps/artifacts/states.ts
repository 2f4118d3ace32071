/** The states of an artifact as data: allowed moves. The database has the same table (`keep_artifact_states`). */
export const artifactMoves = {
  draft: ['staged'],
  staged: ['canary'],
  canary: ['active', 'staged'],
  active: ['deprecated'],
  deprecated: ['retired'],
  retired: [],
} as const satisfies Record<string, readonly string[]>;

export type ArtifactState = keyof typeof artifactMoves;

export function canMove(from: ArtifactState, to: ArtifactState): boolean {
  return artifactMoves[from].some((state) => state === to);
}

/** The way of a promotion, forward only; it begins at draft. */
const PROMOTION = ['staged', 'canary', 'active'] as const satisfies readonly ArtifactState[];

/** States that a promotion enters on its way to the target; none if it is there or beyond, null if no way leads there. */
export function stepsTo(
  from: ArtifactState,
  target: 'canary' | 'active',
): ('staged' | 'canary' | 'active')[] | null {
  const begin = PROMOTION.findIndex((state) => state === from);
  if (begin === -1 && from !== 'draft') return null;
  return PROMOTION.slice(begin + 1, PROMOTION.indexOf(target) + 1);
}
