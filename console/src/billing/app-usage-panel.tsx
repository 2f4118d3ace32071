import { useQuery } from '@tanstack/react-query';
import { appUsageQuery, type AppUsageSum } from '../api/billing/app-usage.ts';
import { formatQuantity } from '../format/dimensions.ts';
import { formatMoney } from '../format/money.ts';
import { timeSpan, type SpanName } from '../format/spans.ts';
import { DataTable, type Column } from '../ui/tables/data-table.tsx';
import { Fact, Facts } from '../ui/values/facts.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { useNow } from '../ui/values/use-now.ts';

const HOUR_MS = 3_600_000;

const COLUMNS: Column<AppUsageSum>[] = [
  { header: 'App', cell: ({ app }) => <span className="font-medium">{app}</span> },
  { header: 'Used', cell: ({ quantity, dimension }) => formatQuantity(quantity, dimension) },
  {
    header: 'Reported by',
    cell: ({ producer }) => <span className="text-ink-muted">{producer}</span>,
    from: 'md',
  },
  {
    header: 'Cost',
    cell: ({ amount }) =>
      amount ? formatMoney(amount) : <span className="text-ink-muted">Not charged</span>,
    align: 'right',
  },
];

/** App usage in the selected period, beside the cost of leases. */
export function AppUsagePanel({ organizationId, time }: { organizationId: string; time: SpanName }) {
  const { from, to } = timeSpan(time, new Date(useNow(HOUR_MS)));
  const query = useQuery(appUsageQuery(organizationId, { from, to }));
  return (
    <Panel title="App usage">
      <QueryBoundary query={query} loading={<Skeleton label="Loading app usage" rows={2} />}>
        {({ costs, items, next_page: more }) =>
          items.length === 0 ? (
            <p className="text-sm text-ink-muted">
              No app usage in this period. Apps are billed by tokens, requests or model seconds, never for GPU
              time already paid by a lease.
            </p>
          ) : (
            <div className="flex flex-col gap-4">
              {costs.map(({ leases, apps, total }) => (
                <Facts key={total.currency}>
                  <Fact name="Leases">{formatMoney(leases, 2)}</Fact>
                  <Fact name="Apps">{formatMoney(apps, 2)}</Fact>
                  <Fact name="Total">{formatMoney(total, 2)}</Fact>
                </Facts>
              ))}
              <DataTable
                label="App usage"
                columns={COLUMNS}
                rows={items}
                rowKey={(row) =>
                  [row.project_id, row.producer, row.app, row.dimension, row.amount?.currency].join(' ')
                }
              />
              {more && <p className="text-sm text-ink-muted">More rows are available through the API.</p>}
            </div>
          )
        }
      </QueryBoundary>
    </Panel>
  );
}
