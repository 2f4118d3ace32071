import { open, readFile, rename } from 'node:fs/promises';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';

export type UsageRecord = components['schemas']['AppUsageReport'];
export type UsageOutcome = components['schemas']['AppUsageOutcome'];

const BATCH = 200;

/**
 * Reports an app's metered usage, as docs/handbook/app-usage.md requires of producers: a record is in the
 * journal before it is sent, keeps its id at every attempt, and leaves the journal when the platform has
 * confirmed or refused it. After any crash, nothing is lost and nothing counts twice.
 */
export class UsageProducer {
  readonly #client: GpuaasClient;
  readonly #name: string;
  readonly #journal: string;
  /** Resolves when no operation uses the journal. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: { client: GpuaasClient; name: string; journal: string }) {
    this.#client = options.client;
    this.#name = options.name;
    this.#journal = options.journal;
  }

  /** Returns when the records are on disk. */
  async add(...records: UsageRecord[]): Promise<void> {
    await this.#alone(() => write(this.#journal, 'a', records));
  }

  /** Sends the journal. Refused records are returned for a person to check, and not sent again. */
  async flush(): Promise<UsageOutcome[]> {
    const refused: UsageOutcome[] = [];
    for (;;) {
      const batch = await this.#alone(async () => (await this.#waiting()).slice(0, BATCH));
      if (batch.length === 0) return refused;
      const { results } = await unwrap(
        this.#client.POST('/api/v1/admin/app-usage-records', {
          body: { producer: this.#name, records: batch },
        }),
      );
      refused.push(...results.filter(({ outcome }) => outcome === 'refused'));
      await this.#alone(() => this.#strike(new Set(results.map(({ record_id }) => record_id))));
    }
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    return await mine;
  }

  async #waiting(): Promise<UsageRecord[]> {
    const text = await readFile(this.#journal, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    return text.split('\n').flatMap((line) => wholeRecord(line) ?? []);
  }

  async #strike(answered: ReadonlySet<string>): Promise<void> {
    const left = (await this.#waiting()).filter(({ record_id }) => !answered.has(record_id));
    await write(`${this.#journal}.next`, 'w', left);
    await rename(`${this.#journal}.next`, this.#journal);
  }
}

async function write(path: string, flags: 'a' | 'w', records: readonly UsageRecord[]): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    // The line break before a record separates it from one that was cut off.
    await file.appendFile(records.map((record) => `\n${JSON.stringify(record)}\n`).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A line that was being written during a crash was never acknowledged. */
function wholeRecord(line: string): UsageRecord | null {
  try {
    return line === '' ? null : JSON.parse(line);
  } catch {
    return null;
  }
}
