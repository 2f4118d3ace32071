import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

export const TEST_POSTGRES_URL_VARIABLE = 'GPUAAS_TEST_POSTGRES_URL';
export const TEMPLATE_DATABASE = 'gpuaas_template';

/** A separate database, cloned from the migrated template; for one test file at a time. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const adminUrl = process.env[TEST_POSTGRES_URL_VARIABLE];
  if (!adminUrl)
    throw new Error(`${TEST_POSTGRES_URL_VARIABLE} is not set: run through vitest's global setup.`);
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runAsAdmin(adminUrl, `create database ${name} template ${TEMPLATE_DATABASE}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => runAsAdmin(adminUrl, `drop database if exists ${name} with (force)`),
  };
}

/** Runs statements that cannot share a transaction, such as `create database`. */
export async function runAsAdmin(adminUrl: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
