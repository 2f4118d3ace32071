import type { Db } from '../../../platform/db/database.ts';
import type { Money } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { costOfFirst, leaseCost } from './accrual.ts';
import { readMetersOf } from './read-open-meters.ts';
import { leaseSecond } from './served-seconds.ts';
import { shareOfLease, type LeaseUse } from './share-lease.ts';

/** A period in which something used the machine of a lease; `to` is null while it lasts. */
export interface UsePeriod {
  id: string;
  from: Date;
  to: Date | null;
}

export interface LeaseShare {
  cost: Money;
  isAccruing: boolean;
}

/** The part of a lease's cost so far that the use `own` bears beside the others; null if the lease was never active. */
export async function leaseShare(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  db: Db,
  allocationId: string,
  { own, all }: { own: UsePeriod | null; all: readonly UsePeriod[] },
): Promise<LeaseShare | null> {
  const [lease] = await readMetersOf(db, [allocationId]);
  if (!lease) return null;
  const { meter, facts } = lease;
  const unreachable = policies.get('fleet.unreachable_after_seconds');
  const now = clock.now();
  const inSeconds = ({ id, from, to }: UsePeriod): LeaseUse => ({
    id,
    from: leaseSecond(meter.startedAt, from),
    to: leaseSecond(meter.startedAt, to ?? now),
  });
  const cost = costOfFirst(meter, facts, unreachable, now);
  return {
    cost: {
      currency: meter.perHour.currency,
      micros: own ? shareOfLease(cost, all.map(inSeconds), inSeconds(own)) : 0n,
    },
    isAccruing: own?.to === null && leaseCost(meter, facts, unreachable, now).isAccruing,
  };
}
