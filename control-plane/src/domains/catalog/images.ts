import type { Selectable } from 'kysely';
import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { fromCursor } from '../../platform/db/given.ts';
import type { Images } from '../../platform/db/generated/schema.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';

type AdminImage = components['schemas']['AdminImage'];
type NewImage = operations['createImage']['requestBody']['content']['application/json'];
type ImageChange = operations['updateImage']['requestBody']['content']['application/json'];

/** Images with an approved digest, which can be launched. */
export async function listImages(tx: Tx): Promise<components['schemas']['Image'][]> {
  const rows = await tx
    .selectFrom('images')
    .selectAll()
    .where('digest', 'is not', null)
    .orderBy('image', 'desc')
    .execute();
  return rows.map((row) => ({ ...describeImage(row), digest: row.digest! }));
}

export async function listAdminImages(
  tx: Tx,
  query: { limit: number; page?: string },
): Promise<Page<AdminImage>> {
  const after = decodePage(query.page, ['text']);
  const rows = await tx
    .selectFrom('images')
    .selectAll()
    .$call(fromCursor(after, (q, [image]) => q.where('image', '>', image)))
    .orderBy('image')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.image]);
  return { items: page.rows.map(describeImage), next_page: page.next_page };
}

export async function getImage(tx: Tx, image: string, options: { lock?: boolean } = {}): Promise<AdminImage> {
  const row = await tx
    .selectFrom('images')
    .selectAll()
    .where('image', '=', image)
    .$if(options.lock ?? false, (q) => q.forUpdate())
    .executeTakeFirst();
  if (!row) throw notFound();
  return describeImage(row);
}

export async function createImage(tx: Tx, body: NewImage): Promise<AdminImage> {
  const row = await tx
    .insertInto('images')
    .values(body)
    .onConflict((c) => c.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new Problem('name_taken', `There is an image ${body.image}.`);
  return describeImage(row);
}

export async function updateImage(tx: Tx, image: string, change: ImageChange): Promise<AdminImage> {
  const row = await tx
    .updateTable('images')
    .set(change)
    .where('image', '=', image)
    .returningAll()
    .executeTakeFirstOrThrow();
  return describeImage(row);
}

export function describeImage(row: Selectable<Images>): AdminImage {
  return {
    ...row,
    kind: row.kind,
    readiness_checks: row.readiness_checks,
  };
}
