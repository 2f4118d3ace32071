import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { AccountingFault } from '../billing/metering/verify-usage.ts';
import { buildStatement, namesInStatement, type StatementDocument } from './build-statement.ts';
import { readFacts } from './read-facts.ts';

/**
 * Rebuilds every statement from the ledger and compares it byte for byte; each balance must follow from the
 * previous one.
 */
export async function verifyStatements(db: Db): Promise<{ statements: number; faults: AccountingFault[] }> {
  const faults: AccountingFault[] = [];
  const closing = new Map<string, bigint>();
  let statements = 0;
  let after = '';
  for (;;) {
    const { rows } = await sql<StatementRow>`
      select id, organization_id, currency, to_char(month, 'YYYY-MM') as month, number, opening_micros, closing_micros,
        document, closed_at, organization_id || currency || month as place
      from statements where organization_id || currency || month > ${after}
      order by organization_id || currency || month limit 1`.execute(db);
    const row = rows[0];
    if (!row) break;
    statements += 1;
    after = row.place;
    const about = `statement ${row.number}`;
    const account = row.organization_id + row.currency;
    if ((closing.get(account) ?? 0n) !== row.opening_micros) {
      faults.push({ about, what: 'does not open with what the one before closed with' });
    }
    closing.set(account, row.closing_micros);
    const what = await differenceOf(db, row);
    if (what) faults.push({ about, what });
  }
  return { statements, faults };
}

interface StatementRow {
  id: string;
  organization_id: string;
  currency: string;
  month: string;
  number: string;
  opening_micros: bigint;
  closing_micros: bigint;
  document: string;
  closed_at: Date;
  place: string;
}

async function differenceOf(db: Db, row: StatementRow): Promise<string | null> {
  const stored: StatementDocument = JSON.parse(row.document);
  const rebuilt = buildStatement({
    id: row.id,
    number: row.number,
    organizationId: row.organization_id,
    currency: row.currency,
    month: row.month,
    closedAt: row.closed_at,
    openingMicros: row.opening_micros,
    names: namesInStatement(stored),
    ...(await readFacts(db, row.id)),
  });
  if (BigInt(rebuilt.closing_balance.micros) !== row.closing_micros) {
    return `closes with ${row.closing_micros}, the ledger with ${rebuilt.closing_balance.micros}`;
  }
  return JSON.stringify(rebuilt) === row.document ? null : 'is not what the ledger gives';
}
