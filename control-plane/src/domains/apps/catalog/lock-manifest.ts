import type { Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { ManifestRow } from './describe-manifest.ts';

/** Other promotions of the app, and launches of it, wait until the transaction ends. */
export async function lockManifest(tx: Tx, slug: string): Promise<ManifestRow> {
  const row = await tx
    .selectFrom('app_manifests')
    .selectAll()
    .where('slug', '=', slug)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}
