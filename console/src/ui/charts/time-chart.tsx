import { Download } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Button } from '../actions/button.tsx';
import { saveFile } from '../actions/save-file.ts';
import { Skeleton } from '../feedback/skeleton.tsx';
import { summarize, toCsv } from './chart-series.ts';
import type { PlotProps } from './plot.tsx';

const Plot = lazy(() => import('./plot.tsx').then((module) => ({ default: module.Plot })));

interface TimeChartProps extends PlotProps {
  label: string;
  /** How a time is named in the table. */
  nameTime: (seconds: number) => string;
}

/** Values over time: a chart, the same figures as a table, and a file for spreadsheets. */
export function TimeChart({ label, nameTime, ...plot }: TimeChartProps) {
  const { times, series, format } = plot;
  return (
    <figure aria-label={label} className="flex min-w-0 flex-col gap-2">
      <figcaption className="sr-only">{summarize(plot, format)}</figcaption>
      <Suspense fallback={<Skeleton label={`Loading ${label}`} rows={4} />}>
        <Plot {...plot} />
      </Suspense>
      <details className="text-sm">
        <summary className="cursor-pointer text-xs text-ink-muted">Table and download</summary>
        <div className="flex max-h-72 flex-col items-start gap-2 overflow-auto pt-2">
          <Button size="sm" onClick={() => saveFile(`${label}.csv`, toCsv(plot))}>
            <Download aria-hidden className="size-3.5" />
            Download CSV
          </Button>
          <table className="w-full text-left tabular-nums">
            <thead className="text-xs text-ink-faint">
              <tr>
                <th scope="col">Time</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" className="text-right">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, index) => (
                <tr key={time} className="border-t border-line">
                  <td className="py-1">{nameTime(time)}</td>
                  {series.map(({ name, values }) => (
                    <td key={name} className="text-right">
                      {formatOrDash(values[index], format)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function formatOrDash(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '—' : format(value);
}
