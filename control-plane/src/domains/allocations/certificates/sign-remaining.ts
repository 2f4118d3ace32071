import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { issueCertificates } from './issue-certificates.ts';

const BATCH = 200;

/** Signs wipe records from before certificates existed. New records are signed when they are written. */
export const signRemaining: Tick<Services> = {
  name: 'allocations.sign_wipe_records',
  everySeconds: 300,
  catchUp: 'skip',
  run: async (services) => {
    while ((await signSome(services)) === BATCH);
  },
};

export async function signSome(services: Services): Promise<number> {
  return await services.db.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom('wipe_certificates as w')
      .leftJoin('issued_certificates as i', 'i.wipe_certificate_id', 'w.id')
      .select('w.id')
      .where('i.sequence', 'is', null)
      .orderBy('w.recorded_at')
      .orderBy('w.id')
      .limit(BATCH)
      .execute();
    await issueCertificates(
      services,
      tx,
      rows.map((row) => row.id),
    );
    return rows.length;
  });
}
