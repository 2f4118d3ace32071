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

/** Limit of labelled bars side by side. */
const ROOM = 12;

/** Vertical bars. Screen readers get the same figures as a list. */
export function BarChart({ label, bars, tone }: BarChartProps) {
  const crowded = bars.length > ROOM;
  const named = (index: number) => !crowded || index % Math.ceil(bars.length / (ROOM / 2)) === 0;
  const highest = Math.max(...bars.map(({ value }) => value), 0);
  return (
    <ul aria-label={label} className={`${TONE_CLASS[tone]} flex h-44 items-stretch gap-1 overflow-x-auto`}>
      {bars.map(({ label: name, value, text }, index) => (
        <li
          key={name}
          className={`flex flex-1 flex-col items-center justify-end gap-1 ${crowded ? 'min-w-2' : 'min-w-6'}`}
          title={`${name}: ${text}`}
        >
          <span className={crowded ? 'sr-only' : 'text-xs whitespace-nowrap text-ink-muted tabular-nums'}>
            {text}
          </span>
          <span
            aria-hidden
            className="w-full max-w-12 rounded-t-sm bg-tone/70"
            style={{ height: `${highest > 0 ? Math.max(1, (value / highest) * 70) : 1}%` }}
          />
          <span className={named(index) ? 'text-xs whitespace-nowrap text-ink-faint' : 'sr-only'}>
            {name}
          </span>
        </li>
      ))}
    </ul>
  );
}
