import { getBalances } from '@gpuaas/control-plane/domains/billing/ledger/get-balance';
import { verifyLedger } from '@gpuaas/control-plane/domains/billing/ledger/verify-ledger';
import { verifySnapshots, verifyUsage } from '@gpuaas/control-plane/domains/billing/metering/verify-usage';
import { verifyPayments } from '@gpuaas/control-plane/domains/payments/verify-payments';
import { verifyStatements } from '@gpuaas/control-plane/domains/statements/verify-statements';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { expect } from 'vitest';
import type { Simulation } from './virtual-time.ts';

/** The verifier finds nothing, and every tenant has the expected balance, to the micro-unit. */
export async function expectBooksHold(db: Db, { bills, expected }: Simulation): Promise<void> {
  expect((await verifyLedger(db)).faults).toEqual([]);
  expect(await verifySnapshots(db)).toEqual([]);
  expect((await verifyUsage(db)).faults).toEqual([]);
  expect((await verifyPayments(db)).faults).toEqual([]);
  expect((await verifyStatements(db)).faults).toEqual([]);
  const meters = await db
    .selectFrom('allocation_meters')
    .select(['allocation_id', 'billed_micros'])
    .execute();
  const wrong = meters.filter(
    (meter) => (bills.get(meter.allocation_id) ?? meter.billed_micros) !== meter.billed_micros,
  );
  expect(wrong).toEqual([]);
  for (const [tenant, micros] of expected) {
    const balances = await db.transaction().execute((tx) => getBalances(tx, tenant));
    expect(balances[0]?.micros ?? 0n, `tenant ${tenant}`).toBe(micros);
  }
}
