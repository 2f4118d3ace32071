import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { reportBlobs } from '@gpuaas/control-plane/domains/incidents/report-blobs';
import { Blobs, type BlobsOptions } from '@gpuaas/control-plane/platform/blobs/blobs';
import { systemClock } from '@gpuaas/control-plane/platform/clock';
import { openDatabase, type Db } from '@gpuaas/control-plane/platform/db/database';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { writeTenantRows } from '@gpuaas/control-plane/platform/db/testing/tenant-rows';
import type { Policies } from '@gpuaas/control-plane/platform/policy/policies';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { sql } from 'kysely';

export interface BlobTest {
  url: string;
  db: Db;
  folder: string;
  tenantId: string;
  otherTenantId: string;
  open(options?: Partial<BlobsOptions> & { quota?: number }): Blobs;
  stop(): Promise<void>;
}

/** A database with two tenants and a folder for content. */
export async function startBlobTest(): Promise<BlobTest> {
  const { url, drop } = await createTestDatabase();
  const database = openDatabase(url);
  const { db } = database;
  const [one, other] = [await writeTenantRows(db, 'one'), await writeTenantRows(db, 'other')];
  await sql`delete from blob_references`.execute(db);
  await sql`delete from blob_holders`.execute(db);
  await sql`delete from blobs`.execute(db);
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-blobs-'));
  return {
    url,
    db,
    folder,
    tenantId: one.organizationId,
    otherTenantId: other.organizationId,
    open: (options = {}) => openBlobs(db, folder, options),
    async stop() {
      await database.close();
      await drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function openBlobs(
  db: Db,
  folder: string,
  { quota, ...options }: Partial<BlobsOptions> & { quota?: number } = {},
): Blobs {
  const log = createLogger('blobs-test', { write: () => undefined });
  return new Blobs({
    db,
    clock: systemClock,
    log,
    policies: fixedPolicies(quota === undefined ? {} : { 'blobs.max_bytes_per_tenant': quota }),
    settings: { folder, s3: null },
    ...reportBlobs({ db, clock: systemClock }),
    ...options,
  });
}

export function digestOf(content: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

export async function contentOf(stream: Readable): Promise<Buffer> {
  return await buffer(stream);
}

/** Where the folder keeps a digest. */
export function pathOf(folder: string, digest: string): string {
  const hex = digest.slice('sha256:'.length);
  return join(folder, 'sha256', hex.slice(0, 2), hex.slice(2, 4), hex);
}

/** Every file below a folder. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** As if everything had happened before the grace period. */
export async function letGraceHavePassed(db: Db): Promise<void> {
  await sql`update blobs set touched_at = touched_at - interval '60 days'`.execute(db);
  await sql`update blob_holders set idle_since = idle_since - interval '60 days'`.execute(db);
}

/** A grace period of nothing, which no operator can set: the collector takes all content it can, but no spooled file. */
export function withoutGrace(): Pick<BlobsOptions, 'policies' | 'clock'> {
  const usual = fixedPolicies();
  const policies: Policies = {
    ...usual,
    get: (key, scope) =>
      (key === 'blobs.unreferenced_grace_seconds' ? 0 : usual.get(key, scope)) as ReturnType<
        typeof usual.get<typeof key>
      >,
  };
  return { policies, clock: { now: () => new Date(0) } };
}
