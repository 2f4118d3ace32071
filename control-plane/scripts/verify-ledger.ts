/**
 * `npm run ledger:verify`: verifies ledger, balances, usage of leases and apps, payments and statements, and
 * lists violations.
 */
import { verifyAppUsage } from '../src/domains/billing/app-usage/verify-app-usage.ts';
import { verifyLedger } from '../src/domains/billing/ledger/verify-ledger.ts';
import { verifySnapshots, verifyUsage } from '../src/domains/billing/metering/verify-usage.ts';
import { verifyPayments } from '../src/domains/payments/verify-payments.ts';
import { verifyStatements } from '../src/domains/statements/verify-statements.ts';
import { openDatabase } from '../src/platform/db/database.ts';
import { withPlatformDatabase } from './platform-database.ts';

await withPlatformDatabase(async (url) => {
  const database = openDatabase(url);
  try {
    const ledger = await verifyLedger(database.db);
    const usage = await verifyUsage(database.db);
    const apps = await verifyAppUsage(database.db);
    const payments = await verifyPayments(database.db);
    const statements = await verifyStatements(database.db);
    const faults = [
      ...ledger.faults.map(({ transactionId, what }) => ({ about: transactionId, what })),
      ...(await verifySnapshots(database.db)),
      ...usage.faults,
      ...apps.faults,
      ...payments.faults,
      ...statements.faults,
    ];
    for (const { about, what } of faults) console.error(`${about}: ${what}`);
    console.log(
      `${ledger.transactions} transactions, ${ledger.entries} entries, ${usage.records} usage records, ${apps.records} of apps, ${payments.payments} payments, ${statements.statements} statements: ${faults.length === 0 ? 'all hold' : `${faults.length} faults`}`,
    );
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    await database.close();
  }
});
