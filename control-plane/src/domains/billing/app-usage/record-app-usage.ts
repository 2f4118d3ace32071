import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { admitRecords } from './admit-records.ts';
import { checkRecord, type ReportedRecord } from './check-record.ts';
import { debitRecords } from './debit-records.ts';
import { findKnownPlaces } from './find-known-places.ts';
import { contentOf, findRecorded } from './find-recorded.ts';

export type Outcome = components['schemas']['AppUsageOutcome'];

export interface UsageReport {
  producer: string;
  records: ReportedRecord[];
  actorUserId: string | null;
  correlationId: string;
}

/**
 * Takes a batch: each record has an outcome of its own, and what is taken is debited in the same transaction. A record
 * is known by producer and id: sent again it changes nothing.
 */
export async function recordAppUsage(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  report: UsageReport,
): Promise<Outcome[]> {
  const now = clock.now();
  const { producer, records } = report;
  // Holds the producer's row: batches of one producer come one after the other.
  await admitRecords(policies, tx, producer, records.length, now);
  const known = await findKnownPlaces(tx, records);
  const recorded = await findRecorded(tx, producer, records);
  const rules = { now, maxAgeSeconds: policies.get('app_usage.max_age_seconds') };
  const settled = new Map<number, Outcome>();
  const fresh: ReportedRecord[] = [];
  for (const [index, record] of records.entries()) {
    const { record_id } = record;
    const earlier = recorded.get(record_id);
    const none = { record_id, code: null, detail: null, amount: null };
    if (earlier === contentOf(record)) settled.set(index, { ...none, outcome: 'duplicate' });
    else {
      const refusal = earlier ? CONFLICT : checkRecord(record, known, rules);
      if (refusal) settled.set(index, { ...none, outcome: 'refused', ...refusal });
      else {
        recorded.set(record_id, contentOf(record));
        fresh.push(record);
      }
    }
  }
  const taken = await debitRecords(policies, tx, report, fresh, now);
  return records.map((record, index) => settled.get(index) ?? taken.get(record.record_id)!);
}

const CONFLICT = {
  code: 'record_conflict',
  detail: 'the producer has sent another record under this id',
} as const;
