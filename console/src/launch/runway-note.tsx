import { useQuery } from '@tanstack/react-query';
import { spendQuery } from '../api/billing/billing.ts';
import { hasOrganizationPermission, useMe } from '../api/me.ts';
import type { Money } from '../api/types.ts';
import { formatMoney, addMoney } from '../format/money.ts';
import { formatDuration } from '../format/format-time.ts';

const HOUR_MS = 3_600_000;

interface MoneyNoteProps {
  organizationId: string;
  /** Cost per hour that the launch would add. */
  perHour: Money;
}

/** How long the balance lasts with the launch, and what happens then. */
export function RunwayNote({ organizationId, perHour }: MoneyNoteProps) {
  const may = hasOrganizationPermission(useMe(), organizationId, 'billing.read');
  const { data } = useQuery({ ...spendQuery(organizationId), enabled: may });
  const spend = data?.spend.find(({ balance }) => balance.currency === perHour.currency);
  if (!spend) return null;
  const rate = addMoney(spend.per_hour, perHour);
  const lasts = (Math.max(0, spend.available.micros) / rate.micros) * HOUR_MS;
  return (
    <div className="flex flex-col gap-1 text-sm text-ink-muted">
      <p>
        {formatMoney(spend.available, 2)} left
        {rate.micros > 0 && (
          <>
            , about <span className="font-medium text-ink">{formatDuration(lasts)}</span>
          </>
        )}
        .
      </p>
      <p>
        <span className="font-medium text-ink">When the balance is used up:</span> {spend.at_zero}
      </p>
    </div>
  );
}
