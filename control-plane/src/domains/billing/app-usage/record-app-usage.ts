import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { enforceRecordRate } from './enforce-record-rate.ts';
import { checkRecord, type ReportedRecord } from './check-record.ts';
import { debitRecords } from './debit-records.ts';
import { resolveReferences } from './resolve-references.ts';
import { recordFingerprint, findExistingRecords } from './find-recorded.ts';
import { get } from '../../../platform/present.ts';

export type RecordOutcome = components['schemas']['AppUsageOutcome'];

export interface UsageReport {
  producer: string;
  records: ReportedRecord[];
  actorUserId: string | null;
  correlationId: string;
}

/**
 * Records a batch: each record has its own outcome, and accepted records are debited in the same transaction.
 * Producer and id identify a record: sending it again changes nothing.
 */
export async function recordAppUsage(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  report: UsageReport,
): Promise<RecordOutcome[]> {
  const now = clock.now();
  const { producer, records } = report;
  // Locks the producer's row, so that batches of one producer are serial.
  await enforceRecordRate(policies, tx, producer, records.length, now);
  const known = await resolveReferences(tx, records);
  const recorded = await findExistingRecords(tx, producer, records);
  const rules = { now, maxAgeSeconds: policies.get('app_usage.max_age_seconds') };
  const settled = new Map<number, RecordOutcome>();
  const fresh: ReportedRecord[] = [];
  for (const [index, record] of records.entries()) {
    const { record_id } = record;
    const earlier = recorded.get(record_id);
    const none = { record_id, code: null, detail: null, amount: null };
    if (earlier === recordFingerprint(record)) settled.set(index, { ...none, outcome: 'duplicate' });
    else {
      const refusal = earlier ? CONFLICT : checkRecord(record, known, rules);
      if (refusal) settled.set(index, { ...none, outcome: 'refused', ...refusal });
      else {
        recorded.set(record_id, recordFingerprint(record));
        fresh.push(record);
      }
    }
  }
  const taken = await debitRecords(policies, tx, report, fresh, now);
  return records.map(
    (record, index) => settled.get(index) ?? get(taken, record.record_id, 'answer to a record'),
  );
}

const CONFLICT = {
  code: 'record_conflict',
  detail: 'the producer has sent another record under this id',
} as const;
