import type { AppSharing } from '../../api/types.ts';

/** Who may open an app, from the fewest to all. */
export const SHARING_LEVELS: readonly { value: AppSharing; label: string; hint: string }[] = [
  { value: 'owner', label: 'Only who started it', hint: 'And holders of a share link.' },
  { value: 'project', label: 'Its project', hint: 'Members who may open apps in the project.' },
  { value: 'organization', label: 'The organization', hint: 'Members who may open apps in any project.' },
  { value: 'public', label: 'Everybody', hint: 'Without signing in. A policy has to allow it.' },
];

/** Why the level cannot be chosen; null if it can. Colleagues may close an app, only its owner opens it further. */
export function levelRefusal(level: AppSharing, now: AppSharing, isOwner: boolean): string | null {
  const rank = (value: AppSharing): number => SHARING_LEVELS.findIndex((one) => one.value === value);
  return isOwner || rank(level) <= rank(now) ? null : 'Only who started it opens it further.';
}
