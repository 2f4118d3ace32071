import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database, type Tx } from '../../../platform/db/database.ts';
import { createTestDatabase } from '../../../platform/db/testing.ts';
import { newId } from '../../../platform/ids.ts';
import { getBalances } from './get-balance.ts';
import { postTransaction, type Posting } from './post-transaction.ts';
import { verifyLedger } from './verify-ledger.ts';

let test: { url: string; drop(): Promise<void> };
let database: Database;

beforeAll(async () => {
  test = await createTestDatabase();
  database = openDatabase(test.url);
});
afterAll(async () => {
  await database?.close();
  await test?.drop();
});

const inTransaction = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
  database.db.transaction().execute(work);

async function newTenant(): Promise<string> {
  const id = newId();
  await sql`insert into organizations (id, name) values (${id}, 'tenant')`.execute(database.db);
  return id;
}

function credit(organizationId: string, micros: bigint, change: Partial<Posting> = {}): Posting {
  return {
    organizationId,
    kind: 'credit',
    currency: 'USD',
    gains: { tenant_balance: micros, credits: -micros },
    postingKey: newId(),
    reason: 'welcome',
    actorUserId: null,
    correlationId: newId(),
    ...change,
  };
}

const balanceOf = (organizationId: string) => inTransaction((tx) => getBalances(tx, organizationId));

describe('the ledger', () => {
  it('has a balance that is the sum of the postings, each key once, with any number of concurrent writers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            key: fc.integer({ min: 0, max: 5 }),
            micros: fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
          }),
          { maxLength: 12 },
        ),
        async (drawn) => {
          const tenant = await newTenant();
          const postings = drawn.filter(({ micros }) => micros !== 0n);
          const posted = await Promise.all(
            postings.map(({ key, micros }) =>
              inTransaction((tx) => postTransaction(tx, credit(tenant, micros, { postingKey: `k${key}` }))),
            ),
          );
          const once = new Map(posted.map(({ transaction, entries }) => [transaction.id, entries]));
          expect(once.size).toBe(new Set(postings.map(({ key }) => key)).size);
          const expected = [...once.values()]
            .flat()
            .filter((entry) => entry.account === 'tenant_balance')
            .reduce((sum, entry) => sum + entry.amount_micros, 0n);
          expect(await balanceOf(tenant)).toEqual(
            once.size === 0 ? [] : [{ currency: 'USD', micros: expected }],
          );
        },
      ),
      { numRuns: 25 },
    );
    expect((await verifyLedger(database.db)).faults).toEqual([]);
  });

  it('posts nothing that does not sum to zero', async () => {
    const tenant = await newTenant();
    const unbalanced = credit(tenant, 5n, { gains: { tenant_balance: 5n, credits: -4n } });
    await expect(inTransaction((tx) => postTransaction(tx, unbalanced))).rejects.toThrow('sum to 1');
    expect(await balanceOf(tenant)).toEqual([]);
  });
});

describe('the database itself', () => {
  const insertTransaction = (tx: Tx, id: string, tenant: string) =>
    sql`insert into ledger_transactions (id, organization_id, kind, currency, posting_key, reason, correlation_id)
      values (${id}, ${tenant}, 'credit', 'USD', ${id}, 'r', ${newId()})`.execute(tx);
  const insertEntry = (
    tx: Tx,
    id: string,
    tenant: string,
    account: string,
    micros: number,
    currency = 'USD',
  ) =>
    sql`insert into ledger_entries (id, transaction_id, organization_id, currency, account, amount_micros)
      values (${newId()}, ${id}, ${tenant}, ${currency}, ${account}, ${micros})`.execute(tx);

  it.each([
    ['without entries', []],
    ['with one entry', [['tenant_balance', 1]]],
    [
      'that does not sum to zero',
      [
        ['tenant_balance', 2],
        ['credits', -1],
      ],
    ],
  ] as const)('refuses a transaction %s', async (_, entries) => {
    const tenant = await newTenant();
    const attempt = inTransaction(async (tx) => {
      const id = newId();
      await insertTransaction(tx, id, tenant);
      for (const [account, micros] of entries) await insertEntry(tx, id, tenant, account, micros);
    });
    await expect(attempt).rejects.toThrow(/has \d entries that sum to/);
  });

  it('refuses an unbalancing entry even when the constraints were checked before it', async () => {
    const tenant = await newTenant();
    const attempt = inTransaction(async (tx) => {
      const { transaction } = await postTransaction(tx, credit(tenant, 7n));
      await sql`set constraints all immediate`.execute(tx);
      await insertEntry(tx, transaction.id, tenant, 'revenue', 1);
    });
    await expect(attempt).rejects.toThrow('that sum to 1');
  });

  it('adds nothing to an earlier transaction, balanced or not', async () => {
    const tenant = await newTenant();
    const { transaction } = await inTransaction((tx) => postTransaction(tx, credit(tenant, 7n)));
    const attempt = inTransaction(async (tx) => {
      await insertEntry(tx, transaction.id, tenant, 'revenue', 1);
      await insertEntry(tx, transaction.id, tenant, 'tax', -1);
    });
    await expect(attempt).rejects.toThrow('is closed');
  });

  it('refuses an entry of another tenant or currency than its transaction', async () => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    for (const [owner, currency] of [
      [other, 'USD'],
      [tenant, 'EUR'],
    ] as const) {
      const attempt = inTransaction(async (tx) => {
        const { transaction } = await postTransaction(tx, credit(tenant, 7n));
        await insertEntry(tx, transaction.id, owner, 'revenue', 1, currency);
      });
      await expect(attempt).rejects.toThrow('foreign key');
    }
  });
});

describe('the verifier', () => {
  it('finds changes made behind the triggers', async () => {
    const tenant = await newTenant();
    const post = async (change: Partial<Posting> = {}) =>
      (await inTransaction((tx) => postTransaction(tx, credit(tenant, 9n, change)))).transaction.id;
    const [altered, emptied, moved, dangling] = [
      await post(),
      await post(),
      await post(),
      await post({ kind: 'adjustment', metadata: { corrects_entry_id: newId() } }),
    ];
    await inTransaction(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await sql`update ledger_entries set amount_micros = 8
        where transaction_id = ${altered} and account = 'tenant_balance'`.execute(tx);
      await sql`delete from ledger_entries where transaction_id = ${emptied}`.execute(tx);
      await sql`update ledger_entries set organization_id = ${await newTenant()}
        where transaction_id = ${moved}`.execute(tx);
    });
    const { faults } = await verifyLedger(database.db);
    expect(new Map(faults.map(({ transactionId, what }) => [transactionId, what]))).toEqual(
      new Map([
        [altered, 'entries sum to -1'],
        [emptied, 'no entries'],
        [moved, 'an entry of another tenant or currency'],
        [dangling, 'corrects an entry that this tenant does not have'],
      ]),
    );
  });
});
