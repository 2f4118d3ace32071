import type { PublishedKey } from '@gpuaas/contracts/wipe-certificate';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { replaceCertificateKey } from '../../../platform/keys/certificate-keys.ts';
import type { Sealer } from '../../../platform/keys/seal.ts';
import { lockChain } from './issue-certificates.ts';

/** Every key that ever signed, newest first. */
export async function listCertificateKeys(
  tx: Tx,
  query: { limit: number; page?: string },
): Promise<Page<PublishedKey>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await keys(tx)
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describe), next_page: page.next_page };
}

/** No certificate is being signed while the key changes. */
export async function rotateCertificateKey(tx: Tx, sealer: Sealer): Promise<PublishedKey> {
  await lockChain(tx);
  const id = await replaceCertificateKey(tx, sealer);
  return describe(await keys(tx).where('id', '=', id).executeTakeFirstOrThrow());
}

function keys(tx: Tx) {
  return tx.selectFrom('certificate_keys').select(['id', 'key_id', 'public_pem', 'created_at', 'retired_at']);
}

function describe(row: {
  key_id: string;
  public_pem: string;
  created_at: Date;
  retired_at: Date | null;
}): PublishedKey {
  return {
    key_id: row.key_id,
    algorithm: 'Ed25519',
    public_key_pem: row.public_pem,
    created_at: row.created_at.toISOString(),
    retired_at: row.retired_at?.toISOString() ?? null,
  };
}
