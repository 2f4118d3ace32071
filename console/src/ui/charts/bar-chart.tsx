import { TONE_CLASS, type Tone } from '../values/tone.ts';

export interface Bar {
  label: string;
  value: number;
  /** The value as people read it. */
  text: string;
}

interface BarChartProps {
  label: string;
  bars: Bar[];
  tone: Tone;
}

/** Bars for a few categories. Values over time are a `TimeChart`. Screen readers get the same figures as a list. */
export function BarChart({ label, bars, tone }: BarChartProps) {
  const highest = Math.max(...bars.map(({ value }) => value), 0);
  return (
    <ul aria-label={label} className={`${TONE_CLASS[tone]} flex h-44 items-stretch gap-1`}>
      {bars.map(({ label: name, value, text }) => (
        <li
          key={name}
          className="flex min-w-0 flex-1 flex-col items-center justify-end gap-1"
          title={`${name}: ${text}`}
        >
          <span className="text-xs whitespace-nowrap text-ink-muted tabular-nums">{text}</span>
          <span
            aria-hidden
            className="w-full max-w-12 rounded-t-sm bg-tone/70"
            style={{ height: `${highest > 0 ? Math.max(1, (value / highest) * 70) : 1}%` }}
          />
          <span className="text-xs whitespace-nowrap text-ink-faint">{name}</span>
        </li>
      ))}
    </ul>
  );
}
