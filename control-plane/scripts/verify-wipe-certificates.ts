/** `npm run wipes:verify [-- --keys file]`: proves the chain of wipe certificates, or names each that does not hold. */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { verifyCertificates } from '../src/domains/allocations/certificates/verify-certificates.ts';
import { openDatabase } from '../src/platform/db/database.ts';
import { withPlatformDatabase } from './platform-database.ts';

const { values } = parseArgs({ options: { keys: { type: 'string' } } });
// Keys stored elsewhere prove more: nothing in the database can certify itself.
const keys = values.keys
  ? (JSON.parse(await readFile(values.keys, 'utf8')) as { items: Parameters<typeof verifyCertificates>[1] })
      .items
  : undefined;

await withPlatformDatabase(async (url) => {
  const database = openDatabase(url, { max: 1 });
  try {
    const { certificates, head, findings, unsigned } = await verifyCertificates(database.db, keys);
    for (const { sequence, kind, detail } of findings) console.error(`${sequence}  ${kind}  ${detail}`);
    console.log(`head ${head.sequence}:${head.hash}`);
    const verdict = findings.length === 0 ? 'the chain holds' : `${findings.length} findings`;
    console.log(`${certificates} certificates, ${unsigned} records not signed yet: ${verdict}`);
    if (findings.length > 0) process.exitCode = 1;
  } finally {
    await database.close();
  }
});
