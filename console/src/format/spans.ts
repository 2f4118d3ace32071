const DAY_MS = 86_400_000;
const DATE = 10;
const MONTH = 7;

export type SpanName = 'week' | 'month' | 'year';

export const SPANS: { value: SpanName; label: string }[] = [
  { value: 'week', label: 'Last 7 days' },
  { value: 'month', label: 'Last 30 days' },
  { value: 'year', label: 'Last 12 months' },
];

export interface TimeSpan {
  from: string;
  to: string;
  /** Period of one bar. */
  step: 'day' | 'month';
  /** The days or months of it, as reports name them. */
  steps: string[];
}

/** Whole days or months in UTC, up to the end of today or of this month. */
export function timeSpan(name: SpanName, now: Date): TimeSpan {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  if (name === 'year') {
    const starts = Array.from({ length: 12 }, (_, index) => Date.UTC(year, month - 11 + index, 1));
    return {
      ...between(starts[0]!, Date.UTC(year, month + 1, 1)),
      step: 'month',
      steps: named(starts, MONTH),
    };
  }
  const days = name === 'week' ? 7 : 30;
  const first = Date.UTC(year, month, day - days + 1);
  const starts = Array.from({ length: days }, (_, index) => first + index * DAY_MS);
  return { ...between(first, first + days * DAY_MS), step: 'day', steps: named(starts, DATE) };
}

function between(from: number, to: number): { from: string; to: string } {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

function named(starts: number[], length: number): string[] {
  return starts.map((start) => new Date(start).toISOString().slice(0, length));
}
