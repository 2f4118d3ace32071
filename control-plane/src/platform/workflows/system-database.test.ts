import pg from 'pg';
import { expect, it } from 'vitest';
import { systemDatabaseUrl } from './system-database.ts';
import { openWorkflowDatabase } from './testing/workflow-database.ts';

it('a connection of a frozen process does not hold locks indefinitely', async () => {
  const database = await openWorkflowDatabase();
  const client = new pg.Client({ connectionString: systemDatabaseUrl(database.url) });
  try {
    await client.connect();
    const { rows } = await client.query('show idle_in_transaction_session_timeout');
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: '1min' }]);
  } finally {
    await client.end();
    await database.drop();
  }
});

it('options that the operator has given stay', () => {
  const url = new URL(systemDatabaseUrl('postgres://db.example/gpuaas?options=-c%20lock_timeout%3D5s'));
  expect(url.searchParams.get('options')).toMatch(/^-c lock_timeout=5s -c idle_in_transaction/);
});
