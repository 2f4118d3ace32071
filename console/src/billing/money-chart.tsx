import { useMemo } from 'react';
import type { ReportLine } from '../api/billing/reports.ts';
import { formatMoney } from '../format/money.ts';
import { TimeChart } from '../ui/charts/time-chart.tsx';

interface MoneyChartProps {
  label: string;
  /** The days or months of the chart; those without a value are empty. */
  steps: string[];
  lines: ReportLine[];
}

/** Money by day or month, a chart for each currency. */
export function MoneyChart({ label, steps, lines }: MoneyChartProps) {
  const currencies = [...new Set(lines.map(({ amount }) => amount.currency))];
  if (currencies.length === 0) return <p className="text-sm text-ink-muted">No data for this period.</p>;
  return currencies.map((currency) => (
    <CurrencyChart
      key={currency}
      label={`${label} in ${currency}`}
      currency={currency}
      steps={steps}
      lines={lines}
    />
  ));
}

function CurrencyChart({ label, currency, steps, lines }: MoneyChartProps & { currency: string }) {
  const days = steps.join();
  // A plot is drawn again when its data changes, so equal data must stay the same object.
  const data = useMemo(() => {
    const all = days.split(',');
    const amountOf = (step: string): number =>
      lines.find(({ group, amount }) => group === step && amount.currency === currency)?.amount.micros ?? 0;
    return {
      times: all.map((step) => Date.parse(step) / 1000),
      series: [{ name: 'Cost', tone: 'info' as const, values: all.map(amountOf) }],
    };
  }, [days, lines, currency]);
  const format = useMemo(() => (micros: number) => formatMoney({ currency, micros }, 2), [currency]);
  const nameTime = (seconds: number) =>
    steps.find((step) => Date.parse(step) === seconds * 1000) ?? new Date(seconds * 1000).toISOString();
  return <TimeChart label={label} kind="bars" format={format} nameTime={nameTime} {...data} />;
}
