import {
  CHAIN_GENESIS,
  checkChain,
  type CertificateFinding,
  type PublishedKey,
} from '@gpuaas/contracts/wipe-certificate';
import type { Db } from '../../../platform/db/database.ts';
import { listCertificateKeys } from './certificate-keys.ts';
import { listChain } from './find-certificate.ts';

export interface ChainVerification {
  certificates: number;
  head: { sequence: number; hash: string };
  findings: CertificateFinding[];
  /** Verified wipes that are not signed yet. */
  unsigned: number;
}

/** Verifies the whole chain, a page at a time, against the given keys or the published ones. */
export async function verifyCertificates(db: Db, given?: PublishedKey[]): Promise<ChainVerification> {
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const keys = given ?? (await listCertificateKeys(tx, { limit: 10_000 })).items;
      const result: ChainVerification = {
        certificates: 0,
        head: { sequence: 0, hash: CHAIN_GENESIS },
        findings: [],
        unsigned: 0,
      };
      let page: string | null = null;
      do {
        const chunk = await listChain(tx, { limit: 1000, ...(page === null ? {} : { page }) });
        const { findings, head } = checkChain(chunk.items, keys, result.head);
        result.findings.push(...findings);
        result.head = head;
        result.certificates += chunk.items.length;
        page = chunk.next_page;
      } while (page !== null);
      const { count } = await tx
        .selectFrom('wipe_certificates as w')
        .leftJoin('issued_certificates as i', 'i.wipe_certificate_id', 'w.id')
        .select(({ fn }) => fn.countAll<bigint>().as('count'))
        .where('i.sequence', 'is', null)
        .executeTakeFirstOrThrow();
      result.unsigned = Number(count);
      return result;
    });
}
