import { channel } from 'node:diagnostics_channel';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Clock } from '../clock.ts';
import type { Db, Tx } from '../db/database.ts';
import { inScope } from '../db/scope.ts';
import { Problem } from '../http/problem.ts';
import type { Policies } from '../policy/policies.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { BlobBackend, BlobPart } from './backend.ts';
import { BlobError } from './blob-error.ts';
import { endAbandonedWrites, endIdleHoldings, listRemovable, removeContent } from './remove-content.ts';
import { FolderBackend } from './folder-backend.ts';
import {
  abandonWrite,
  addHolder,
  beginWrite,
  findRecord,
  finishWrite,
  isHolder,
  recordCorrupt,
  usedBytes,
  type BlobRecord,
  type Write,
} from './records.ts';
import { S3Backend, type S3Settings } from './s3-backend.ts';
import { Spool, type Spooled } from './spool.ts';
import { verifyWhileRead } from './verify-while-read.ts';

/** Receiving and writing together stay below the shortest grace period, which protects content on its way. */
const RECEIVE_TIMEOUT_MS = 3_600_000;
/** How often content may be removed under a writer before it gives up. */
const WRITE_ATTEMPTS = 5;
/** Failed removals after which a collection ends. */
const GIVE_UP_AFTER = 3;

export const BLOBS_CHANNEL = 'gpuaas.blobs';
const operations = channel(BLOBS_CHANNEL);

/** One finished operation of the store, for metrics. */
export interface BlobOperation {
  operation: 'put' | 'read' | 'remove';
  outcome: string;
  bytes: number;
}

export interface BlobSettings {
  folder: string;
  /** New content goes to the bucket when set. */
  s3: S3Settings | null;
}

export interface BlobsOptions {
  db: Db;
  policies: Policies;
  clock: Clock;
  log: Logger;
  settings: BlobSettings;
  onCorrupt(blob: { digest: string; backend: string; found: string }): Promise<void>;
  onRepaired(digest: string): Promise<void>;
  /** Where tests stop a writer, or end the process. */
  onStep?: (step: string) => void | Promise<void>;
}

export interface PutOptions {
  /** Whose quota it counts for; null for the platform's own content. */
  tenantId: string | null;
  maxBytes: number;
  expectedDigest?: string;
}

/** Content by digest, shared by all processes of the platform. A reader needs a reference (`keepBlob`) that lasts. */
export class Blobs {
  readonly #options: BlobsOptions;
  readonly #spool: Spool;
  readonly #backends: Map<string, BlobBackend>;
  readonly #newest: BlobBackend;

  constructor(options: BlobsOptions) {
    const { settings, clock } = options;
    const folder = new FolderBackend(settings.folder);
    const s3 = settings.s3 && new S3Backend(settings.s3, clock);
    this.#options = options;
    this.#spool = new Spool(join(settings.folder, 'spool'));
    this.#newest = s3 ?? folder;
    this.#backends = new Map([folder, ...(s3 ? [s3] : [])].map((backend) => [backend.name, backend]));
  }

  /** Stores content and counts it for the tenant. It stays for the grace period; `keepBlob` keeps it longer. */
  async put(
    source: AsyncIterable<Uint8Array> | Uint8Array,
    options: PutOptions,
  ): Promise<{ digest: string; bytes: number }> {
    try {
      const spooled = await this.#receive(source, options);
      try {
        await this.#step('received');
        await this.#store(spooled, options.tenantId);
      } finally {
        await this.#spool.discard(spooled);
      }
      count('put', 'ok', spooled.bytes);
      return { digest: spooled.digest, bytes: spooled.bytes };
    } catch (error) {
      count('put', outcomeOf(error), 0);
      throw error;
    }
  }

  async stat(digest: string): Promise<{ bytes: number; backend: string; createdAt: Date } | null> {
    const record = await this.#inTransaction((tx) => findRecord(tx, digest));
    if (record?.state !== 'stored') return null;
    return { bytes: record.bytes, backend: record.backend, createdAt: record.createdAt };
  }

  /** The content, verified while it is read: damage ends the stream with the `BlobError` `corrupt`. */
  async open(digest: string): Promise<Readable> {
    const record = await this.#stored(digest);
    const source = await this.#openSource(record);
    return verifyWhileRead(source, {
      digest,
      bytes: record.bytes,
      onWrong: (found) => this.#corrupt(record, found),
      onVerified: () => count('read', 'ok', record.bytes),
    });
  }

  /** Part of the content. It cannot be verified here: only all of it has a digest. */
  async openPart(digest: string, part: BlobPart): Promise<Readable> {
    const record = await this.#stored(digest);
    const stream = await this.#openSource(record, part);
    stream.once('end', () => count('read', 'ok', part.last - part.first + 1));
    return stream;
  }

  /** Removes content that nothing has referred to for the grace period. */
  async collect(): Promise<{ removed: number }> {
    const { db, policies, clock } = this.#options;
    const graceSeconds = policies.get('blobs.unreferenced_grace_seconds');
    await this.sweepSpool(new Date(clock.now().getTime() - graceSeconds * 1000));
    let ended: number;
    do ended = await endIdleHoldings(db, graceSeconds);
    while (ended > 0);
    await endAbandonedWrites(db, graceSeconds);
    for (let removed = 0; ;) {
      const digests = await listRemovable(db);
      const gone = await this.#removeAll(digests);
      removed += gone;
      if (gone < digests.length || digests.length === 0) return { removed };
    }
  }

  /** Removes what killed processes left on this machine. */
  async sweepSpool(before: Date): Promise<void> {
    await this.#spool.sweep(before);
  }

  async #receive(
    source: AsyncIterable<Uint8Array> | Uint8Array,
    { tenantId, maxBytes, expectedDigest }: PutOptions,
  ): Promise<Spooled> {
    const most = Math.min(maxBytes, this.#newest.maxBytes);
    const used = tenantId === null ? 0 : await this.#inTransaction((tx) => usedBytes(tx, tenantId));
    const limit = this.#limitOf(tenantId);
    const admit = (bytes: number): void => {
      if (bytes > most) throw new BlobError('too_large', `more than ${most} bytes`);
      // Content that alone exceeds the quota need not be received; what the tenant holds already is free.
      if (bytes > limit) throw quotaExceeded({ used, limit, asked: bytes });
    };
    const spooled = await this.#spool.receive(source, admit, AbortSignal.timeout(RECEIVE_TIMEOUT_MS));
    if (expectedDigest === undefined || expectedDigest === spooled.digest) return spooled;
    await this.#spool.discard(spooled);
    throw new BlobError('digest_mismatch', `the content is ${spooled.digest}, not ${expectedDigest}`);
  }

  async #store(spooled: Spooled, tenantId: string | null): Promise<void> {
    const { digest, bytes } = spooled;
    for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
      const write = await this.#inTransaction(async (tx) => {
        if (tenantId !== null && !(await isHolder(tx, digest, tenantId)))
          this.#requireRoom(tenantId, await usedBytes(tx, tenantId), bytes);
        return await beginWrite(tx, { digest, bytes, backend: this.#newest.name });
      });
      await this.#step('announced');
      if (!(await this.#writeAndRecord(spooled, tenantId, write))) continue;
      if (write.state === 'corrupt') await this.#options.onRepaired(digest);
      return;
    }
    throw new BlobError('unavailable', `${digest} was removed while it was written`);
  }

  async #writeAndRecord(
    { digest, bytes, file }: Spooled,
    tenantId: string | null,
    write: Write,
  ): Promise<boolean> {
    try {
      const backend = this.#backend(write.backend);
      const written = write.state !== 'stored' || (await backend.size(digest)) !== bytes;
      if (written) await backend.write(digest, file, bytes);
      await this.#step('written');
      const isStored = await this.#inTransaction(async (tx) => {
        if (!(await finishWrite(tx, digest, write, { written }))) return false;
        const isNew = await addHolder(tx, digest, tenantId);
        // The row of the tenant's usage is locked since then, so parallel puts are counted in turn.
        if (isNew && tenantId !== null)
          this.#requireRoom(tenantId, (await usedBytes(tx, tenantId)) - bytes, bytes);
        return true;
      });
      await this.#step('stored');
      return isStored;
    } catch (error) {
      await this.#inTransaction((tx) => abandonWrite(tx, digest, write)).catch(() => undefined);
      throw error;
    }
  }

  #requireRoom(tenantId: string, used: number, asked: number): void {
    const limit = this.#limitOf(tenantId);
    if (used + asked > limit) throw quotaExceeded({ used, limit, asked });
  }

  #limitOf(tenantId: string | null): number {
    if (tenantId === null) return Number.POSITIVE_INFINITY;
    return this.#options.policies.get('blobs.max_bytes_per_tenant', { organizationId: tenantId });
  }

  async #stored(digest: string): Promise<BlobRecord> {
    const record = await this.#inTransaction((tx) => findRecord(tx, digest));
    if (record?.state === 'stored') return record;
    const code = record?.state === 'corrupt' ? 'corrupt' : 'missing';
    count('read', code, 0);
    throw new BlobError(code, `${digest} is ${code === 'corrupt' ? 'damaged' : 'not stored'}`);
  }

  async #openSource(record: BlobRecord, part?: BlobPart): Promise<Readable> {
    try {
      return await this.#backend(record.backend).open(record.digest, part);
    } catch (error) {
      if (!(error instanceof BlobError && error.code === 'missing')) {
        count('read', outcomeOf(error), 0);
        throw error;
      }
      // The collector may have removed it since the row was read.
      const { generation } = await this.#stored(record.digest);
      if (generation !== record.generation) throw error;
      throw await this.#corrupt(record, 'nothing');
    }
  }

  /** Records the damage before the reader learns of it. */
  async #corrupt(record: BlobRecord, found: string): Promise<BlobError> {
    const { digest, backend } = record;
    const { log, onCorrupt } = this.#options;
    count('read', 'corrupt', 0);
    log.error({ digest, backend, found }, 'stored content is damaged');
    try {
      if (await this.#inTransaction((tx) => recordCorrupt(tx, record)))
        await onCorrupt({ digest, backend, found });
    } catch (error) {
      log.error({ err: error, digest }, 'damage of stored content could not be recorded');
    }
    return new BlobError('corrupt', `${digest} is damaged: found ${found}`);
  }

  async #removeAll(digests: readonly string[]): Promise<number> {
    let gone = 0;
    const failures: unknown[] = [];
    for (const digest of digests) {
      try {
        const remove = async (backend: string): Promise<void> => {
          await this.#backend(backend).remove(digest);
          await this.#step('removed');
        };
        if (!(await removeContent(this.#options.db, digest, remove))) continue;
        count('remove', 'ok', 0);
        gone += 1;
      } catch (error) {
        count('remove', outcomeOf(error), 0);
        this.#options.log.warn({ err: error, digest }, 'content could not be removed');
        failures.push(error);
        if (failures.length === GIVE_UP_AFTER) break;
      }
    }
    if (failures.length > 0) throw failures[0];
    return gone;
  }

  #backend(name: string): BlobBackend {
    const backend = this.#backends.get(name);
    if (backend) return backend;
    throw new BlobError('unavailable', `content is in ${name}, which is not configured`);
  }

  async #inTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return await inScope(this.#options.db, { role: 'gpuaas_blobs' }, work);
  }

  async #step(step: string): Promise<void> {
    await this.#options.onStep?.(step);
  }
}

function quotaExceeded({ used, limit, asked }: { used: number; limit: number; asked: number }): Problem {
  return new Problem(
    'storage_quota_exceeded',
    `The organization may store ${limit} bytes and stores ${used}; ${asked} more do not fit.`,
    { extensions: { used, limit, asked } },
  );
}

function outcomeOf(error: unknown): string {
  return error instanceof BlobError || error instanceof Problem ? error.code : 'failed';
}

function count(operation: BlobOperation['operation'], outcome: string, bytes: number): void {
  operations.publish({ operation, outcome, bytes } satisfies BlobOperation);
}
