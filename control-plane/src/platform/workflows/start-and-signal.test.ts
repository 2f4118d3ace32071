import { setTimeout as pause } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Listener } from '../db/listener.ts';
import { sleep, step, waitForSignal, waitForWorkflow, type WorkflowDefinition } from './definition.ts';
import { dispatchStarts } from './dispatch-starts.ts';
import { startWorkflowEngine, type WorkflowEngine } from './engine.ts';
import { APPLICATION, STARTS_CHANNEL } from './queue-names.ts';
import { openWorkflowDatabase, type WorkflowTestDatabase } from './testing/workflow-database.ts';

interface Services {
  log: string[];
}

const greet: WorkflowDefinition<Services, { who: string }> = {
  name: 'test.greet',
  deadlineSeconds: 10,
  steps: ['greet'],
  run: ({ log }, { who }) => step('greet', async () => void log.push(who)),
};
const listen: WorkflowDefinition<Services, { who: string }> = {
  name: 'test.listen',
  deadlineSeconds: 10,
  steps: ['hear'],
  async run({ log }, { who }) {
    const heard = await waitForSignal<{ word: string }>('word', 20);
    await step('hear', async () => void log.push(`${who} heard ${heard?.word}`));
  },
};
const follow: WorkflowDefinition<Services, { after: string }> = {
  name: 'test.follow',
  deadlineSeconds: 10,
  steps: ['follow'],
  async run({ log }, { after }) {
    await waitForWorkflow(after);
    await step('follow', async () => void log.push(`after ${after}`));
  },
};
const doze: WorkflowDefinition<Services, { who: string }> = {
  name: 'test.doze',
  deadlineSeconds: 10,
  steps: ['wake'],
  async run({ log }, { who }) {
    await sleep('doze', 0.5);
    await step('wake', async () => void log.push(who));
  },
};

let database: WorkflowTestDatabase;
let listener: Listener;
let engine: WorkflowEngine | undefined;
const services: Services = { log: [] };

beforeAll(async () => {
  database = await openWorkflowDatabase();
  listener = new Listener(database.url, [STARTS_CHANNEL]);
  await listener.start();
});
afterAll(async () => {
  await engine?.stop();
  await listener?.close();
  await database?.drop();
});

function signal(workflowId: string, message: object): Promise<void> {
  const { db, client } = database;
  return db.transaction().execute((tx) => client.signal(tx, workflowId, 'word', message));
}

async function startRows(): Promise<string[]> {
  const rows = await database.db.selectFrom('workflow_starts').select('workflow_id').execute();
  return rows.map((row) => row.workflow_id);
}

describe('before any worker runs', () => {
  it('starts nothing when the transaction is rolled back', async () => {
    const { db, client } = database;
    const aborted = db.transaction().execute(async (tx) => {
      await client.start(tx, greet, 'rolled-back', { who: 'nobody' });
      throw new Error('changed my mind');
    });
    await expect(aborted).rejects.toThrow('changed my mind');
    expect(await startRows()).toEqual([]);
  });

  it('moves rows in bulk without losing or doubling any when dispatchers compete', async () => {
    const { db, client } = database;
    await db.transaction().execute(async (tx) => {
      for (let index = 0; index < 200; index += 1) {
        await client.start(tx, greet, `bulk-${index}`, { who: `bulk-${index}` });
      }
    });
    const moved = await Promise.all(Array.from({ length: 8 }, () => dispatchStarts(db, { limit: 30 })));
    expect(Math.max(...moved)).toBeLessThanOrEqual(30);
    while ((await dispatchStarts(db, { limit: 30 })) > 0);
    expect(await startRows()).toEqual([]);
    const text = `select count(*)::int as n from dbos.workflow_status where name = 'test.greet' and status = 'ENQUEUED'`;
    expect((await database.pool.query<{ n: number }>(text)).rows[0]?.n).toBe(200);
  });

  it('leaves the row when the dispatcher dies before its commit', async () => {
    await database.start(greet.name, 'survivor', { who: 'survivor' });
    const holder = await database.pool.connect();
    await holder.query('begin');
    await holder.query(`delete from workflow_starts where workflow_id = 'survivor'`);
    expect(await dispatchStarts(database.db, { limit: 10 })).toBe(0);
    await holder.query('rollback');
    holder.release();
    expect(await dispatchStarts(database.db, { limit: 10 })).toBe(1);
    expect(await database.statusOf('survivor')).toBe('ENQUEUED');
  });

  it('keeps a signal that comes while the workflow is a start row', async () => {
    await database.start(listen.name, 'early', { who: 'early' });
    await signal('early', { word: 'hello' });
    await signal('early', { word: 'too late' });
    expect(await database.db.selectFrom('workflow_signals').select('topic').execute()).toHaveLength(1);
  });

  it('takes a start and its signal in one transaction', async () => {
    const { db, client } = database;
    await db.transaction().execute(async (tx) => {
      await client.start(tx, listen, 'together', { who: 'together' });
      await client.signal(tx, 'together', 'word', { word: 'hi' });
    });
  });

  it('delivers a signal sent while the dispatcher is at that very row', async () => {
    const { db, pool } = database;
    await database.start(listen.name, 'raced', { who: 'raced' });
    const signaller = await pool.connect();
    await signaller.query('begin');
    await signaller.query(`select signal_workflow('raced', 'word', '{"word":"now"}')`);
    while ((await dispatchStarts(db, { limit: 50 })) > 0);
    // The dispatcher skipped the row; otherwise the signal would find no start row.
    expect(await startRows()).toEqual(['raced']);
    await signaller.query('commit');
    signaller.release();
    expect(await dispatchStarts(db, { limit: 50 })).toBe(1);
    expect(await db.selectFrom('workflow_signals').selectAll().execute()).toEqual([]);
  });

  it('refuses a signal to a workflow that was never started', async () => {
    await expect(signal('no-such-workflow', {})).rejects.toThrow(/non-existent workflow/);
  });

  it('has a workflow in the queue that the release before used', async () => {
    await database.pool.query(
      `select dbos.enqueue_workflow($1, 'allocations', array['{"who": "former"}'::json],
        workflow_id => 'former', application_name => $2)`,
      [greet.name, APPLICATION],
    );
    expect(await database.statusOf('former')).toBe('ENQUEUED');
  });

  it('never starts what was cancelled as a start row', async () => {
    await database.start(greet.name, 'cancelled-early', { who: 'cancelled-early' });
    await database.client.cancel(database.db, 'cancelled-early');
    expect(await database.statusOf('cancelled-early')).toBe('CANCELLED');
  });
});

describe('with a worker', () => {
  beforeAll(async () => {
    const { log, ...rest } = database;
    const definitions = [greet, listen, follow, doze] as WorkflowDefinition<Services, never>[];
    engine = await startWorkflowEngine({ database: rest, listener, services, definitions, log });
  });

  it('runs everything that was queued, once', async () => {
    for (let index = 0; index < 200; index += 1) await database.waitFor(`bulk-${index}`, 'SUCCESS');
    await database.waitFor('survivor', 'SUCCESS');
    expect(services.log.filter((entry) => entry.startsWith('bulk-')).length).toBe(200);
    expect(services.log).not.toContain('cancelled-early');
    expect(await database.statusOf('cancelled-early')).toBe('CANCELLED');
  });

  it('also runs what the release before left in its queue', async () => {
    await database.waitFor('former', 'SUCCESS');
    expect(services.log).toContain('former');
  });

  it('leaves workflows of another queue to the workers of that queue', async () => {
    const { db, client, pool } = database;
    await DBOS.registerQueue('elsewhere', { minPollingIntervalMs: 100, onConflict: 'always_update' });
    const theirs = { name: 'test.theirs', queue: 'elsewhere' };
    await db.transaction().execute((tx) => client.start(tx, theirs, 'theirs', {}));
    await database.waitFor('theirs', 'ENQUEUED');
    const text = `select queue_name from dbos.workflow_status where workflow_uuid = 'theirs'`;
    expect((await pool.query(text)).rows).toEqual([{ queue_name: 'elsewhere' }]);
    // Longer than the engine needs to find a queue that is new to it.
    await pause(2500);
    expect(await database.statusOf('theirs')).toBe('ENQUEUED');
  });

  it('delivers the signals that were early', async () => {
    for (const id of ['early', 'together', 'raced']) await database.waitFor(id, 'SUCCESS');
    expect(services.log).toEqual(
      expect.arrayContaining(['early heard hello', 'together heard hi', 'raced heard now']),
    );
  });

  it('makes one workflow of the same id, also after it has ended', async () => {
    await Promise.all(Array.from({ length: 10 }, () => database.start(greet.name, 'twin', { who: 'twin' })));
    await database.waitFor('twin', 'SUCCESS');
    await database.start(greet.name, 'twin', { who: 'twin' });
    await expect.poll(startRows).toEqual([]);
    await pause(300);
    expect(services.log.filter((entry) => entry === 'twin')).toEqual(['twin']);
  });

  it('starts each workflow on an idle queue once, in the order of the starts', async () => {
    const names = Array.from({ length: 8 }, (_, round) => `prompt-${round}`);
    for (const who of names) {
      await database.start(greet.name, who, { who });
      await database.waitFor(who, 'SUCCESS', 60_000);
    }
    expect(services.log.filter((entry) => entry.startsWith('prompt-'))).toEqual(names);
  });

  it('wakes a waiting workflow by a signal', async () => {
    await database.start(listen.name, 'waiting', { who: 'waiting' });
    await database.waitFor('waiting', 'PENDING');
    await signal('waiting', { word: 'go' });
    await database.waitFor('waiting', 'SUCCESS');
    expect(services.log).toContain('waiting heard go');
  });

  it('waits for a workflow that still is to be started', async () => {
    await database.start(follow.name, 'follower', { after: 'leader' });
    await database.waitFor('follower', 'PENDING');
    await database.start(greet.name, 'leader', { who: 'leader' });
    await database.waitFor('follower', 'SUCCESS');
    expect(services.log.indexOf('leader')).toBeLessThan(services.log.indexOf('after leader'));
  });

  it('runs no further step of a cancelled workflow', async () => {
    await database.start(doze.name, 'sleeper', { who: 'sleeper' });
    await database.waitFor('sleeper', 'PENDING');
    await database.client.cancel(database.db, 'sleeper');
    await pause(1000);
    expect(await database.statusOf('sleeper')).toBe('CANCELLED');
    expect(services.log).not.toContain('sleeper');
  });
});
