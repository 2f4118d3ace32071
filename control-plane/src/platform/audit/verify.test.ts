import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database, type Db, type Tx } from '../db/database.ts';
import { createTestDatabase } from '../db/testing.ts';
import { sealRows } from './seal.ts';
import { lastSegment, segmentsFrom, signStatement } from './checkpoint.ts';
import { newAuditKey, sealAll, writeRows } from './testing/audit-rows.ts';
import { verifyAudit, type ChainFinding, type VerifyOptions } from './verify.ts';

const ROWS = 100_000;
const OLD_ROWS = 1500;
const key = newAuditKey();
let database: Database;
let db: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.url, { max: 4 });
  db = database.db;
  await sql`select create_month_partitions('2020-05-15', 1)`.execute(db);
  await writeRows(db, OLD_ROWS, `'2020-05-15'`);
  for (let part = 0; part < 10; part += 1) await writeRows(db, (ROWS - OLD_ROWS) / 10);
  await sealAll(db, key, ROWS);
}, 180_000);
afterAll(async () => {
  await database.close();
  await drop();
});

class Undo extends Error {}

/** Findings after the statements, run as a superuser past the triggers, and undone. */
async function afterTampering(
  tamper: (tx: Tx) => Promise<unknown>,
  options: Partial<VerifyOptions> = {},
): Promise<ChainFinding[]> {
  let findings: ChainFinding[] = [];
  await db
    .transaction()
    .execute(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await tamper(tx);
      ({ findings } = await verifyAudit(tx, { publicKey: key.publicPem, ...options }));
      throw new Undo();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error;
    });
  return findings;
}

/** A sealed row somewhere in the log, with its segment. */
async function someRow(offset: number): Promise<{ id: string; xid: bigint; segment: string }> {
  const { rows } = await sql<{ id: string; xid: bigint; segment: string }>`
    select l.id, l.xid, (select min(s.segment)::text from audit_segments s
      where (l.xid, l.id) <= (s.upto_xid, s.upto_id)) as segment
    from audit_logs l order by l.xid, l.id offset ${offset} limit 1`.execute(db);
  return rows[0]!;
}

const kinds = (findings: ChainFinding[]) =>
  findings.map(({ kind, segment, rowId }) => ({ kind, segment, rowId }));

describe('the verifier over 100,000 rows', () => {
  test('finds nothing in an untouched log', async () => {
    const result = await verifyAudit(db, { publicKey: key.publicPem });
    expect(result).toMatchObject({ findings: [], rows: ROWS, retiredRows: 0, nextSegment: null });
    const [begin, rest] = [
      await verifyAudit(db, { publicKey: key.publicPem, segments: 3 }),
      await verifyAudit(db, { publicKey: key.publicPem, from: 4n, segments: 2 }),
    ];
    expect([begin.nextSegment, rest.nextSegment, begin.findings, rest.findings]).toEqual([4n, 6n, [], []]);
    expect(result.head?.head_hash).toBe((await lastSegment(db))!.head_hash.toString('hex'));
  });

  test('finds every kind of change to rows in one run, each in its row', async () => {
    const [word, microsecond, number, place, deleted, one, other, neighbour] = await Promise.all(
      [54_321, 9_000, 12_345, 20_500, 77, 30_000, 60_000, 42_000].map(someRow),
    );
    const last = (await lastSegment(db))!.segment;
    const findings = await afterTampering(async (tx) => {
      const change = (id: string, what: string) =>
        sql`update audit_logs set ${sql.raw(what)} where id = ${id}`.execute(tx);
      await change(word!.id, `action = 'slot.disable'`);
      await change(microsecond!.id, `occurred_at = occurred_at + interval '1 microsecond'`);
      // Beyond the range of a program's numbers.
      await change(number!.id, `detail = '{"n": 12345.000000000000000001}'`);
      await change(place!.id, 'xid = 1');
      await sql`delete from audit_logs where id = ${deleted!.id}`.execute(tx);
      await sql`update audit_logs l set target_id = o.target_id, detail = o.detail
        from audit_logs o where (l.id, o.id) in ((${one!.id}::uuid, ${other!.id}::uuid), (${other!.id}, ${one!.id}))`.execute(
        tx,
      );
      await sql`insert into audit_logs (id, xid, occurred_at, actor_role, action, target_type, target_id, result,
          correlation_id)
        select '00000000-0000-4000-8000-000000000001', xid, occurred_at, actor_role, action, target_type, target_id,
          result, correlation_id from audit_logs where id = ${neighbour!.id}`.execute(tx);
      await sql`delete from audit_logs
        where (xid, id) in (select xid, id from audit_logs order by xid desc, id desc limit 10)`.execute(tx);
    });
    const at = (kind: string, row: { id: string; segment: string }) => `${kind} ${row.segment} ${row.id}`;
    const found = findings.map(({ kind, segment, rowId }) => `${kind} ${segment} ${rowId}`);
    expect(found).toEqual(
      expect.arrayContaining([
        at('row_changed', word!),
        at('row_changed', microsecond!),
        at('row_changed', number!),
        at('row_missing', place!),
        at('row_missing', deleted!),
        at('row_changed', one!),
        at('row_changed', other!),
      ]),
    );
    const inserted = findings.filter(({ kind }) => kind === 'row_inserted').map(({ rowId }) => rowId);
    expect(new Set(inserted)).toEqual(new Set(['00000000-0000-4000-8000-000000000001', place!.id]));
    const cutOff = findings.filter((each) => each.kind === 'row_missing' && each.segment === String(last));
    expect(cutOff).toHaveLength(10);
    expect(findings).toHaveLength(19);
  });

  test('finds rows cut off with their checkpoints by a head noted elsewhere', async () => {
    const head = (await lastSegment(db))!;
    const cut = async (tx: Tx) => {
      const { upto_xid, upto_id } = (await segmentsFrom(tx, head.segment - 1n, 1))[0]!;
      await sql`delete from audit_logs where (xid, id) > (${upto_xid}::bigint, ${upto_id}::uuid)`.execute(tx);
      await sql`delete from audit_segments where segment = ${head.segment}`.execute(tx);
    };
    const anchors = [{ segment: head.segment, headHash: head.head_hash.toString('hex') }];
    expect(kinds(await afterTampering(cut, { anchors, from: head.segment - 3n }))).toEqual([
      { kind: 'anchor_missing', segment: String(head.segment), rowId: null },
    ]);
  });

  test('finds a checkpoint that is gone, one that was changed, and one signed with another key', async () => {
    const near = { from: 48n, segments: 5 };
    const gone = await afterTampering(
      (tx) => sql`delete from audit_segments where segment = 50`.execute(tx),
      near,
    );
    expect(kinds(gone)[0]).toEqual({ kind: 'checkpoint_missing', segment: '50', rowId: null });
    const changed = await afterTampering((tx) =>
      sql`update audit_segments set sealed_at = sealed_at + interval '1 second' where segment = 50`.execute(
        tx,
      ),
    );
    expect(changed.map((each) => `${each.kind} ${each.segment}`)).toEqual([
      'checkpoint_forged 50',
      'chain_broken 51',
    ]);
    const resealed = await afterTampering(
      async (tx) => {
        const head = (await lastSegment(tx))!.segment;
        const row = await someRow(ROWS - 1);
        await sql`update audit_logs set action = 'x' where id = ${row.id}`.execute(tx);
        await sql`delete from audit_segments where segment = ${head}`.execute(tx);
        const stranger = { ...newAuditKey(), id: key.id };
        const clock = { now: () => new Date() };
        const inside = { transaction: () => ({ execute: (work: (inner: Tx) => unknown) => work(tx) }) };
        await sealRows({ db: inside as unknown as Db, clock, keys: { audit: stranger } });
      },
      { from: (await lastSegment(db))!.segment - 1n },
    );
    expect(new Set(resealed.map((each) => each.kind))).toEqual(new Set(['checkpoint_forged']));
  });

  test('finds a whole month that is gone without a retirement, and one whose retirement is forged', async () => {
    const dropMonth = (tx: Tx) => sql`drop table audit_logs_2020_05`.execute(tx);
    const first = { segments: 3 };
    const gone = await afterTampering(dropMonth, first);
    expect(gone.map((each) => `${each.kind} ${each.segment}`)).toEqual([
      'month_missing 1',
      'month_missing 2',
    ]);
    const statement = {
      month: '2020-05-01',
      first_segment: '1',
      last_segment: '2',
      row_count: String(OLD_ROWS),
      retired_at: '2026-01-01T00:00:00.000Z',
      key_id: key.id,
    };
    const retire = (signature: string) => async (tx: Tx) => {
      await sql`insert into audit_retirements (month, first_segment, last_segment, row_count, retired_at, key_id, signature)
        values ('2020-05-01', 1, 2, ${OLD_ROWS}, '2026-01-01T00:00:00Z', ${key.id}, ${signature})`.execute(
        tx,
      );
      await dropMonth(tx);
    };
    const forged = await afterTampering(retire(signStatement(statement, newAuditKey().privateKey)), first);
    expect(forged.map((each) => each.kind)).toEqual(['retirement_forged', 'month_missing', 'month_missing']);
    expect(await afterTampering(retire(signStatement(statement, key.privateKey)), first)).toEqual([]);
  });
});
