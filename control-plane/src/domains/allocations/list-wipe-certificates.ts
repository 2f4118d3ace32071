import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../platform/db/database.ts';

type WipeCertificate = components['schemas']['WipeCertificate'];

/** Every wipe of the allocation's slots, verified or not: the record is not tidied. */
export async function listWipeCertificates(db: Db | Tx, allocationId: string): Promise<WipeCertificate[]> {
  const rows = await db
    .selectFrom('wipe_certificates')
    .leftJoin('issued_certificates', 'issued_certificates.wipe_certificate_id', 'wipe_certificates.id')
    .selectAll('wipe_certificates')
    .select('issued_certificates.issued_at')
    .where('allocation_id', '=', allocationId)
    .orderBy('recorded_at')
    .orderBy('slot_index')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    allocation_id: row.allocation_id,
    slot_id: row.slot_id,
    slot_index: row.slot_index,
    device_serial: row.device_serial,
    method: row.method,
    verified: row.verified,
    verification: row.verification,
    tools: row.tools as unknown as WipeCertificate['tools'],
    started_at: row.started_at.toISOString(),
    finished_at: row.finished_at.toISOString(),
    issued_at: row.issued_at?.toISOString() ?? null,
  }));
}
