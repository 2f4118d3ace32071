import { TONE_CLASS, type Tone } from '../values/tone.ts';

interface ProgressBarProps {
  label: string;
  percent: number;
  tone: Tone;
}

export function ProgressBar({ label, percent, tone }: ProgressBarProps) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
      className={`${TONE_CLASS[tone]} h-1 w-full overflow-hidden rounded-full bg-tone/20`}
    >
      <div
        className="h-full rounded-full bg-tone transition-[width] duration-300"
        style={{ width: `${percent}%` }}
      />
    </div>
  );
}
