import type { Node } from '../../api/types.ts';
import { TONE_CLASS } from '../../ui/values/tone.ts';
import { CONNECTIONS } from '../postures.ts';

export function ConnectionLabel({ connection }: { connection: Node['connection'] }) {
  const { label, tone } = CONNECTIONS[connection];
  return (
    <span
      className={`${TONE_CLASS[tone]} inline-flex items-center gap-1.5 ${connection === 'connected' ? 'text-ink-muted' : 'text-tone-text'}`}
    >
      <span aria-hidden className="size-1.5 rounded-full bg-tone" />
      {label}
    </span>
  );
}
