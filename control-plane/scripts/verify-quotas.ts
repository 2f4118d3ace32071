/** `npm run quota:verify`: recounts every quota from the live claims, or names each counter that differs. */
import { verifyQuotas } from '../src/domains/quotas/verify-quotas.ts';
import { openDatabase } from '../src/platform/db/database.ts';
import { withPlatformDatabase } from './platform-database.ts';

const SHOWN = 1000;

await withPlatformDatabase(async (url) => {
  const database = openDatabase(url);
  try {
    const faults = await verifyQuotas(database.db, SHOWN);
    for (const { holderType, holderId, measure, unit, counted, held } of faults) {
      console.error(`${holderType} ${holderId} ${measure} ${unit}: counted ${counted}, held ${held}`);
    }
    console.log(faults.length === 0 ? 'all counters hold' : `${faults.length} counters differ`);
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    await database.close();
  }
});
