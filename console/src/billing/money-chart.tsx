import type { ReportLine } from '../api/billing/reports.ts';
import { formatMoney } from '../format/money.ts';
import { BarChart } from '../ui/charts/bar-chart.tsx';

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
    <BarChart
      key={currency}
      label={`${label} in ${currency}`}
      tone="info"
      bars={steps.map((step) => {
        const line = lines.find(({ group, amount }) => group === step && amount.currency === currency);
        const amount = line?.amount ?? { currency, micros: 0 };
        return { label: step, value: amount.micros, text: formatMoney(amount, 2) };
      })}
    />
  ));
}
