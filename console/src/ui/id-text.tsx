import { shortId } from '../format/words.ts';
import { CopyButton } from './copy-button.tsx';

interface IdTextProps {
  id: string;
  /** What it identifies, as in "Copy actor id". */
  label: string;
}

/** The end of an id, whole on hover and on the clipboard. */
export function IdText({ id, label }: IdTextProps) {
  return (
    <span className="relative z-10 inline-flex items-center gap-0.5">
      <code title={id} className="font-mono text-[0.93em] text-ink-muted">
        {shortId(id)}
      </code>
      <CopyButton value={id} label={label} />
    </span>
  );
}
