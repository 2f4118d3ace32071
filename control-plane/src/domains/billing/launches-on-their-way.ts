import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import { cumulativeCost, type Money } from '../../platform/money.ts';

/** What a launch was looked at with: it may go on while the money also covers those that are on their way. */
export interface LaunchFunds {
  organizationId: string;
  perHour: Money;
  /** For how long the money must last. */
  seconds: number;
  /** What may be spent, launches on their way not counted. */
  availableMicros: bigint;
}

/** What launches that are not metered yet will cost an hour, by tenant and currency, as nobody else changes it. */
export async function holdOnTheirWay(tx: Tx, organizationIds: string[]): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ organization_id: string; currency: string; per_hour_micros: bigint }>`
    select organization_id, currency, per_hour_micros from hold_funds(${organizationIds}::uuid[])`.execute(
    tx,
  );
  return new Map(rows.map((row) => [`${row.organization_id} ${row.currency}`, row.per_hour_micros]));
}

/** For launches that are decided together: whether the money covers each, with those before it. */
export async function checkFunds(tx: Tx, launches: readonly LaunchFunds[]): Promise<boolean[]> {
  const asking = launches.filter(({ seconds }) => seconds > 0);
  if (asking.length === 0) return launches.map(() => true);
  const perHour = await holdOnTheirWay(
    tx,
    asking.map(({ organizationId }) => organizationId),
  );
  return launches.map((launch) => {
    if (launch.seconds === 0) return true;
    const account = `${launch.organizationId} ${launch.perHour.currency}`;
    const withIt = (perHour.get(account) ?? 0n) + launch.perHour.micros;
    if (!covers(launch, withIt)) return false;
    perHour.set(account, withIt);
    return true;
  });
}

/** Whether the money lasts as long as it must at this rate. */
export function covers(launch: LaunchFunds, perHourMicros: bigint): boolean {
  return launch.availableMicros >= costAt(launch, perHourMicros);
}

export function costAt({ perHour, seconds }: LaunchFunds, perHourMicros: bigint): bigint {
  return cumulativeCost({ currency: perHour.currency, micros: perHourMicros }, BigInt(seconds)).micros;
}

const MOST = 2n ** 62n;

/** The highest rate at which the money lasts as long as it must. */
export function mostOnTheirWay({ availableMicros, seconds }: LaunchFunds): bigint {
  // The cost is rounded down.
  const most = ((availableMicros + 1n) * 3600n - 1n) / BigInt(seconds);
  return most > MOST ? MOST : most;
}
