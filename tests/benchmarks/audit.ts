/** Writes audit rows from many clients with the sealer off and on, then verifies the log. `npm run bench:audit`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { recordAudit } from '@gpuaas/control-plane/platform/audit/record';
import { sealRows } from '@gpuaas/control-plane/platform/audit/seal';
import { newAuditKey, sealAll } from '@gpuaas/control-plane/platform/audit/testing/audit-rows';
import { verifyAudit } from '@gpuaas/control-plane/platform/audit/verify';
import { systemClock } from '@gpuaas/control-plane/platform/clock';
import { openDatabase, type Db } from '@gpuaas/control-plane/platform/db/database';
import { startEmbeddedPostgres } from '@gpuaas/control-plane/platform/db/embedded-postgres';
import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { newId } from '@gpuaas/control-plane/platform/ids';

const CLIENTS = 16;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);
const ROUNDS = 2;

/** Each client does the work of a mutation: a transaction with one audit row. Returns the number of rows. */
async function write(db: Db, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let rows = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      await db.transaction().execute((tx) =>
        recordAudit(tx, {
          actorUserId: newId(),
          actorRole: 'tenant_admin',
          action: 'allocation.create',
          targetType: 'allocation',
          targetId: newId(),
          result: 'succeeded',
          correlationId: newId(),
          detail: { sku: 'h200-sxm-slice', gpu_count: 2 },
        }),
      );
      rows += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return rows;
}

const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-bench-audit-'));
const postgres = await startEmbeddedPostgres({ dataDir });
try {
  await migrate(postgres.url);
  const { db, close } = openDatabase(postgres.url, { max: CLIENTS + 2 });
  const audit = newAuditKey();
  let written = await write(db, 1);
  const rates = { off: 0, on: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const off = await write(db, SECONDS);
    let stop = false;
    const sealing = (async () => {
      while (!stop) {
        await sealRows({ db, clock: systemClock, keys: { audit } }, () => stop);
        await pause(200);
      }
    })();
    const on = await write(db, SECONDS);
    stop = true;
    await sealing;
    written += off + on;
    rates.off += off / SECONDS / ROUNDS;
    rates.on += on / SECONDS / ROUNDS;
  }
  const sealBegan = performance.now();
  await sealAll(db, audit, written);
  const sealSeconds = (performance.now() - sealBegan) / 1000;
  const began = performance.now();
  const { rows, findings } = await verifyAudit(db, { publicKey: audit.publicPem });
  const seconds = (performance.now() - began) / 1000;
  if (findings.length > 0 || rows !== written) throw new Error('the log does not verify');
  const figure = (value: number): string => Math.round(value).toLocaleString('en');
  console.log(`${CLIENTS} clients, one row per transaction, ${SECONDS} s a turn, ${ROUNDS} turns each`);
  console.log(`sealer off: ${figure(rates.off)} rows/s`);
  console.log(`sealer on:  ${figure(rates.on)} rows/s (${((rates.on / rates.off) * 100).toFixed(0)} %)`);
  console.log(`left to seal at the end: sealed in ${sealSeconds.toFixed(1)} s`);
  console.log(`verified ${figure(rows)} rows in ${seconds.toFixed(1)} s: ${figure(rows / seconds)} rows/s`);
  await close();
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
