import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { MIGRATIONS_FOLDER } from '@gpuaas/control-plane/platform/db/migrations';
import {
  createTestDatabase,
  runAsAdmin,
  TEST_POSTGRES_URL_VARIABLE,
} from '@gpuaas/control-plane/platform/db/testing';
import { expect } from 'vitest';

/** A database as it was after a migration, with rows of that time. `migrate` brings it up to date. */
export async function openOlderDatabase(
  lastMigration: string,
  rows: string,
): Promise<{ url: string; end(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-older-'));
  const database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  for (const file of await readdir(MIGRATIONS_FOLDER))
    if (file <= `${lastMigration}.sql`) await copyFile(join(MIGRATIONS_FOLDER, file), join(folder, file));
  // Only the name and the way to drop it are wanted of the clone.
  const admin = process.env[TEST_POSTGRES_URL_VARIABLE]!;
  await runAsAdmin(admin, `drop database ${name}`, `create database ${name}`);
  const before = await migrate(database.url, undefined, { migrations: folder });
  expect(before.applied.at(-1)).toBe(lastMigration);
  await runAsAdmin(database.url, rows);
  return {
    url: database.url,
    end: async () => {
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
