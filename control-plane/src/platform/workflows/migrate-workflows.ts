import { DBOS } from '@dbos-inc/dbos-sdk';
import { Client } from 'pg';

/** Migrates the engine's own tables and grants our roles access to them. */
export async function migrateWorkflows(databaseUrl: string): Promise<void> {
  await silently(() => DBOS.migrate(databaseUrl));
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('select grant_workflow_engine()');
  } finally {
    await client.end();
  }
}

/** The engine's migrations print to stdout; they are not the operator's business. */
async function silently(work: () => Promise<unknown>): Promise<void> {
  const { log } = console;
  console.log = () => undefined;
  try {
    await work();
  } finally {
    console.log = log;
  }
}
