import { useQuery } from '@tanstack/react-query';
import { costsQuery, type CostGroup, type ReportLine } from '../api/billing/reports.ts';
import { COST_GROUPS } from '../format/cost-groups.ts';
import { formatMoney } from '../format/money.ts';
import { timeSpan, SPANS, type SpanName } from '../format/spans.ts';
import { DataTable, type Column } from '../ui/tables/data-table.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Panel } from '../ui/panel.tsx';
import { Select } from '../ui/forms/select.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { useNow } from '../ui/values/use-now.ts';
import { MoneyChart } from './money-chart.tsx';

const HOUR_MS = 3_600_000;
const HOUR_SECONDS = 3_600;

const COLUMNS: Column<ReportLine>[] = [
  { header: 'Name', cell: ({ label }) => label || <span className="text-ink-muted">None</span> },
  {
    header: 'GPU hours',
    cell: ({ gpu_seconds: seconds }) => (seconds / HOUR_SECONDS).toFixed(1),
    align: 'right',
    from: 'sm',
  },
  { header: 'Cost', cell: ({ amount }) => formatMoney(amount, 2), align: 'right' },
];

export interface CostsPanelProps {
  organizationId: string;
  time: SpanName;
  by: CostGroup;
  onChange: (choice: { time?: SpanName; by?: CostGroup }) => void;
}

/** Spend over time, by category. */
export function CostsPanel({ organizationId, time: name, by: group, onChange }: CostsPanelProps) {
  const { from, to, step, steps } = timeSpan(name, new Date(useNow(HOUR_MS)));
  const time = useQuery(costsQuery(organizationId, { from, to }, step));
  const lines = useQuery(costsQuery(organizationId, { from, to }, group));
  return (
    <Panel title="Costs">
      <div className="flex flex-col gap-5">
        <div className="grid gap-3 sm:grid-cols-2">
          <div className="flex flex-col gap-1.5">
            <Select label="Time" value={name} onChange={(time) => onChange({ time })} options={SPANS} />
          </div>
          <div className="flex flex-col gap-1.5">
            <Select label="By" value={group} onChange={(by) => onChange({ by })} options={COST_GROUPS} />
          </div>
        </div>
        <QueryBoundary query={time} loading={<Skeleton label="Loading costs" rows={3} />}>
          {(byTime) => <MoneyChart label={`Costs by ${step}`} steps={steps} lines={byTime} />}
        </QueryBoundary>
        <QueryBoundary query={lines} loading={<Skeleton label="Loading cost breakdown" rows={3} />}>
          {(rows) =>
            rows.length > 0 && (
              <DataTable
                label="Costs"
                columns={COLUMNS}
                rows={rows}
                rowKey={(row) => `${row.group} ${row.amount.currency}`}
              />
            )
          }
        </QueryBoundary>
      </div>
    </Panel>
  );
}
