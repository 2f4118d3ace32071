import { shortId } from '../../format/humanize.ts';
import { CopyButton } from '../actions/copy-button.tsx';

interface IdTextProps {
  id: string;
  /** Name of the id, as in "Copy actor id". */
  label: string;
}

/** Longer ids are UUIDs, which differ at their end. */
const SHORT_ENOUGH = 24;

/** An id, or its end: whole on hover and on the clipboard. */
export function IdText({ id, label }: IdTextProps) {
  return (
    <span className="relative z-10 inline-flex items-center gap-0.5">
      <code title={id} className="font-mono text-[0.93em] text-ink-muted">
        {id.length > SHORT_ENOUGH ? shortId(id) : id}
      </code>
      <CopyButton value={id} label={label} />
    </span>
  );
}
