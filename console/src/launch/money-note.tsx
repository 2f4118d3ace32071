import { useQuery } from '@tanstack/react-query';
import { spendQuery } from '../api/billing.ts';
import { mayInOrganization, useMe } from '../api/session.ts';
import type { Money } from '../api/types.ts';
import { formatMoney, plus } from '../format/money.ts';
import { formatDuration } from '../format/time.ts';

const HOUR_MS = 3_600_000;

interface MoneyNoteProps {
  organizationId: string;
  /** What the launch would add to what is spent now. */
  perHour: Money;
}

/** How long the balance lasts with it, and what happens then. */
export function MoneyNote({ organizationId, perHour }: MoneyNoteProps) {
  const may = mayInOrganization(useMe(), organizationId, 'billing.read');
  const { data } = useQuery({ ...spendQuery(organizationId), enabled: may });
  const spend = data?.spend.find(({ balance }) => balance.currency === perHour.currency);
  if (!spend) return null;
  const rate = plus(spend.per_hour, perHour);
  const lasts = (Math.max(0, spend.available.micros) / rate.micros) * HOUR_MS;
  return (
    <div className="flex flex-col gap-1 text-sm text-ink-muted">
      <p>
        {formatMoney(spend.available, 2)} are left
        {rate.micros > 0 && (
          <>
            ; with this running they last{' '}
            <span className="font-medium text-ink">{formatDuration(lasts)}</span>
          </>
        )}
        .
      </p>
      <p>
        <span className="font-medium text-ink">At zero:</span> {spend.at_zero}
      </p>
    </div>
  );
}
