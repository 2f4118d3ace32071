import { humanize } from '../../format/humanize.ts';
import { Badge } from './badge.tsx';

/** The state of an account or a key: green while it is active. */
export function StateBadge({ state }: { state: string }) {
  return <Badge tone={state === 'active' ? 'success' : 'neutral'}>{humanize(state)}</Badge>;
}
