import type { SignedWipeCertificate, WipeStatement } from '@gpuaas/contracts/wipe-certificate';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { notFound } from '../../../platform/http/problem.ts';

/** A certificate of an allocation that the caller may read. */
export async function findCertificate(
  tx: Tx,
  allocationId: string,
  certificateId: string,
): Promise<SignedWipeCertificate> {
  const row = await tx
    .selectFrom('issued_certificates as i')
    .innerJoin('wipe_certificates as w', 'w.id', 'i.wipe_certificate_id')
    .select(['i.statement', 'i.signature'])
    .where('w.id', '=', certificateId)
    .where('w.allocation_id', '=', allocationId)
    .executeTakeFirst();
  if (!row) throw notFound();
  return describe(row);
}

/** All of them, in the order in which they build on each other. */
export async function listChain(
  tx: Tx,
  query: { limit: number; page?: string },
): Promise<Page<SignedWipeCertificate>> {
  const after = decodePage(query.page, ['integer']);
  const rows = await tx
    .selectFrom('issued_certificates')
    .select(['sequence', 'statement', 'signature'])
    .where('sequence', '>', BigInt(after?.[0] ?? 0))
    .orderBy('sequence')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.sequence.toString()]);
  return { items: page.rows.map(describe), next_page: page.next_page };
}

function describe(row: { statement: WipeStatement; signature: string }): SignedWipeCertificate {
  return { certificate: row.statement, signature: row.signature };
}
