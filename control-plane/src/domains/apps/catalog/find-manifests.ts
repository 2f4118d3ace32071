import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { notFound } from '../../../platform/http/problem.ts';
import {
  describeManifest,
  describeVersion,
  summarizeManifest,
  type VersionRow,
} from './describe-manifest.ts';

type Schemas = components['schemas'];

interface PageQuery {
  limit: number;
  page?: string;
}

/** The active version of an app; null if the app is not offered. */
export async function findOffered(tx: Tx, slug: string): Promise<VersionRow | null> {
  const row = await tx
    .selectFrom('app_manifests as m')
    .innerJoin('app_manifest_versions as v', (join) =>
      join.onRef('v.slug', '=', 'm.slug').onRef('v.version', '=', 'm.version'),
    )
    .selectAll('v')
    .where('m.slug', '=', slug)
    .where('m.active', '=', true)
    .executeTakeFirst();
  return row ?? null;
}

export async function findVersion(
  tx: Tx,
  { slug, version }: { slug: string; version: string },
): Promise<VersionRow> {
  const row = await tx
    .selectFrom('app_manifest_versions')
    .selectAll()
    .where('slug', '=', slug)
    .where('version', '=', version)
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

export async function listOffered(
  tx: Tx,
  host: string,
  query: PageQuery,
): Promise<Page<Schemas['AppManifest']>> {
  const after = decodePage(query.page, ['text']);
  const rows = await tx
    .selectFrom('app_manifests as m')
    .innerJoin('app_manifest_versions as v', (join) =>
      join.onRef('v.slug', '=', 'm.slug').onRef('v.version', '=', 'm.version'),
    )
    .selectAll('v')
    .where('m.active', '=', true)
    .$call(fromCursor(after, (q, [slug]) => q.where('m.slug', '>', slug)))
    .orderBy('m.slug')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.slug]);
  return { items: page.rows.map((row) => describeManifest(host, row)), next_page: page.next_page };
}

export async function listManifests(tx: Tx, query: PageQuery): Promise<Page<Schemas['AppManifestSummary']>> {
  const after = decodePage(query.page, ['text']);
  const rows = await tx
    .selectFrom('app_manifests')
    .selectAll()
    .$call(fromCursor(after, (q, [slug]) => q.where('slug', '>', slug)))
    .orderBy('slug')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.slug]);
  return { items: page.rows.map(summarizeManifest), next_page: page.next_page };
}

export async function listVersions(
  tx: Tx,
  host: string,
  slug: string,
  query: PageQuery,
): Promise<Page<Schemas['AppManifestVersion']>> {
  const after = decodePage(query.page, ['instant', 'text']);
  const rows = await tx
    .selectFrom('app_manifest_versions')
    .selectAll()
    .where('slug', '=', slug)
    .$call(
      fromCursor(after, (q, [at, version]) =>
        q.where((e) =>
          e.or([
            e('published_at', '<', new Date(at)),
            e.and([e('published_at', '=', new Date(at)), e('version', '>', version)]),
          ]),
        ),
      ),
    )
    .orderBy('published_at', 'desc')
    .orderBy('version')
    .limit(query.limit + 1)
    .execute();
  if (rows.length === 0 && after === null) await requireManifest(tx, slug);
  const page = toPage(rows, query.limit, (row) => [row.published_at.toISOString(), row.version]);
  return { items: page.rows.map((row) => describeVersion(host, row)), next_page: page.next_page };
}

async function requireManifest(tx: Tx, slug: string): Promise<void> {
  const row = await tx.selectFrom('app_manifests').select('slug').where('slug', '=', slug).executeTakeFirst();
  if (!row) throw notFound();
}
