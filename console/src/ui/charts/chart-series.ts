import type { Tone } from '../values/tone.ts';

export interface ChartSeries {
  name: string;
  tone: Tone;
  /** One value per time; null where nothing is known, which is drawn as a gap. */
  values: (number | null)[];
}

export interface ChartData {
  /** Seconds since the epoch, ascending. */
  times: number[];
  series: ChartSeries[];
}

/** Sums from the first series up, for areas that stand on one another; a gap in one stays a gap in it alone. */
export function stackSeries(series: readonly ChartSeries[]): ChartSeries[] {
  const below: number[] = [];
  return series.map((one) => ({
    ...one,
    values: one.values.map((value, index) => {
      if (value === null) return null;
      below[index] = (below[index] ?? 0) + value;
      return below[index];
    }),
  }));
}

/** The chart in one sentence, for people who do not see it. */
export function summarize({ times, series }: ChartData, format: (value: number) => string): string {
  const parts = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    const last = known.at(-1);
    if (last === undefined) return `${name}: no data`;
    return `${name}: lowest ${format(Math.min(...known))}, highest ${format(Math.max(...known))}, latest ${format(last)}`;
  });
  return `${times.length} points. ${parts.join('. ')}.`;
}

/** A table for spreadsheets: ISO times, and the plain numbers. */
export function toCsv({ times, series }: ChartData): string {
  const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const rows = times.map((time, index) =>
    [new Date(time * 1000).toISOString(), ...series.map(({ values }) => values[index] ?? '')].join(','),
  );
  return [['time', ...series.map(({ name }) => quote(name))].join(','), ...rows, ''].join('\n');
}
