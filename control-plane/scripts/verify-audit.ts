/** Verifies the whole audit log: `npm run audit:verify [-- --public-key file] [-- --anchor segment:head]`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { verifyAudit, type Anchor } from '../src/platform/audit/verify.ts';
import { openDatabase } from '../src/platform/db/database.ts';
import { loadPlatformKeys } from '../src/platform/keys/platform-keys.ts';
import { KeyFile } from '../src/platform/keys/key-file.ts';
import { Sealer } from '../src/platform/keys/seal.ts';
import { readConfig } from '../src/roles/config.ts';
import { withPlatformDatabase } from './platform-database.ts';

const { values } = parseArgs({
  options: { 'public-key': { type: 'string' }, anchor: { type: 'string', multiple: true } },
});
const anchors = (values.anchor ?? []).map(readAnchor);

process.exitCode = await withPlatformDatabase(async (url) => {
  const { db, close } = openDatabase(url, { max: 2 });
  try {
    // Without the file the key is opened with platform.key: nothing in the database can certify itself.
    const publicKey = values['public-key']
      ? await readFile(values['public-key'], 'utf8')
      : (
          await loadPlatformKeys(
            db,
            new Sealer(await KeyFile.open(join(readConfig([]).dataDir, 'platform.key'))),
          )
        ).audit.publicPem;
    const began = performance.now();
    const result = await verifyAudit(db, { publicKey, anchors });
    const seconds = (performance.now() - began) / 1000;
    for (const { kind, segment, rowId, detail } of result.findings) {
      console.log(`${kind}  segment ${segment}${rowId ? `  row ${rowId}` : ''}  ${detail}`);
    }
    const retired = result.retiredRows > 0 ? `, ${result.retiredRows} of them retired` : '';
    console.log(`${result.rows} rows${retired} in ${result.segments} segments, ${seconds.toFixed(1)} s`);
    if (result.head) console.log(`head ${result.head.segment}:${result.head.head_hash}`);
    console.log(
      result.findings.length === 0 ? 'the audit log is whole' : `${result.findings.length} findings`,
    );
    return result.findings.length === 0 ? 0 : 1;
  } finally {
    await close();
  }
});

function readAnchor(text: string): Anchor {
  const [, segment, headHash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (!segment || !headHash) {
    console.error('--anchor takes <segment>:<head>, as this command prints it');
    process.exit(2);
  }
  return { segment: BigInt(segment), headHash };
}
