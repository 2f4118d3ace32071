import { TONE_CLASS, type Tone } from '../values/tone.ts';

interface ShareBarProps {
  label: string;
  parts: { name: string; value: number; tone: Tone }[];
}

/** One bar in parts, with a legend below it. */
export function ShareBar({ label, parts }: ShareBarProps) {
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  const shown = parts.filter(({ value }) => value > 0);
  return (
    <figure aria-label={label} className="flex flex-col gap-2">
      <div aria-hidden className="flex h-4 overflow-hidden rounded bg-hover">
        {shown.map(({ name, value, tone }) => (
          <span
            key={name}
            className={`${TONE_CLASS[tone]} bg-tone`}
            style={{ width: `${(value / total) * 100}%` }}
          />
        ))}
      </div>
      <figcaption className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-muted">
        {shown.map(({ name, value, tone }) => (
          <span key={name} className="inline-flex items-center gap-1.5 tabular-nums">
            <span aria-hidden className={`${TONE_CLASS[tone]} size-2.5 rounded-sm bg-tone`} />
            {name} {value.toLocaleString('en-US')} ({Math.round((value / total) * 100)}%)
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
