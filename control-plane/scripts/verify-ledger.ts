/** `npm run ledger:verify`: proves the ledger, or names each transaction that does not hold. */
import { verifyLedger } from '../src/domains/billing/verify-ledger.ts';
import { openDatabase } from '../src/platform/db/database.ts';
import { withPlatformDatabase } from './platform-database.ts';

await withPlatformDatabase(async (url) => {
  const database = openDatabase(url);
  try {
    const { transactions, entries, faults } = await verifyLedger(database.db);
    for (const { transactionId, what } of faults) console.error(`${transactionId}: ${what}`);
    console.log(
      `${transactions} transactions, ${entries} entries: ${faults.length === 0 ? 'all hold' : `${faults.length} faults`}`,
    );
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    await database.close();
  }
});
