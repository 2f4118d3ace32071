/**
 * Rotates the platform key: `npm run keys:rotate [-- add | reseal | verify | retire]`. Without a word it adds a version and
 * seals everything with it, or goes on with what an earlier run began.
 */
import { join } from 'node:path';
import { stat } from 'node:fs/promises';
import { systemClock } from '../src/platform/clock.ts';
import { openDatabase, type Db } from '../src/platform/db/database.ts';
import { addKeyVersion, KeyFile, retireOldVersions } from '../src/platform/keys/key-file.ts';
import { resealColumn } from '../src/platform/keys/reseal.ts';
import { Sealer } from '../src/platform/keys/seal.ts';
import { sealedColumns } from '../src/platform/keys/sealed-columns.ts';
import { readConfig } from '../src/roles/config.ts';
import { withPlatformDatabase } from './platform-database.ts';

/** Processes look for a new version every 15 s; until then they may seal with the one before. */
const SETTLED_MS = 60_000;
const WORDS = ['add', 'reseal', 'verify', 'retire'];

const word = process.argv[2];
if (word !== undefined && !WORDS.includes(word)) {
  console.error(`keys:rotate takes one of ${WORDS.join(', ')}, or nothing`);
  process.exit(2);
}
const file = join(readConfig([]).dataDir, 'platform.key');

process.exitCode = await withPlatformDatabase(async (url) => {
  const { db, close } = openDatabase(url, { max: 2 });
  try {
    if (word === 'add') return await add();
    if (word === 'reseal') return await seal(db);
    if (word === 'verify') return (await countStale(db)) === 0 ? 0 : 1;
    if (word === 'retire') return await retire(db);
    const { version } = (await KeyFile.open(file)).newest();
    if (version === 1 || (await countStale(db)) === 0) await add();
    else console.log(`going on with version ${version}`);
    return await seal(db);
  } finally {
    await close();
  }
});

async function add(): Promise<number> {
  await KeyFile.open(file);
  console.log(`version ${await addKeyVersion(file)} of the platform key seals from now on`);
  return 0;
}

async function seal(db: Db): Promise<number> {
  await walk(db, false);
  return (await countStale(db)) === 0 ? 0 : 1;
}

/** How many values are not sealed with the newest version, or cannot be opened. */
async function countStale(db: Db): Promise<number> {
  return await walk(db, true);
}

async function walk(db: Db, verify: boolean): Promise<number> {
  const sealer = new Sealer(await KeyFile.open(file));
  let left = 0;
  for (const column of sealedColumns) {
    const name = `${column.table}.${column.column}`;
    const { seen, stale, broken } = await resealColumn(db, sealer, column, {
      verify,
      onBatch: (_, count) => {
        if (!verify && count.resealed > 0) console.log(`${name}: ${count.resealed} sealed again`);
      },
    });
    for (const row of broken) console.log(`no key opens ${row}`);
    if (verify && seen > 0) console.log(`${name}: ${seen} values, ${stale} of them with an older key`);
    left += stale + broken.length;
  }
  return verify ? left : 0;
}

async function retire(db: Db): Promise<number> {
  const age = systemClock.now().getTime() - (await stat(file)).mtimeMs;
  if (age < SETTLED_MS) {
    console.log('the newest version is less than a minute old; processes may still seal with the one before');
    return 1;
  }
  const left = await countStale(db);
  if (left > 0) {
    console.log(`${left} values still need an older version; run keys:rotate first`);
    return 1;
  }
  await retireOldVersions(file);
  console.log('older versions of the platform key are gone');
  return 0;
}
