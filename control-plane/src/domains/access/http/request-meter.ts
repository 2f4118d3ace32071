import { newId } from '../../../platform/ids.ts';
import { repeat, type RepeatHandle } from '../../../platform/repeat.ts';
import type { Services } from '../../../platform/services.ts';
import { storeRequestCounts, type RequestCount } from '../../billing/app-usage/store-request-counts.ts';
import type { App } from './app.ts';

/** A killed gateway loses the requests of at most this long, while the database answers. */
const FLUSH_MS = 1_000;
/** Rows that wait for a database that is away. Above this, counts stay in memory under their keys. */
const MAX_WAITING = 1_000;

/** Counts answered requests by app and user, and stores the counts every second. */
export class RequestMeter {
  readonly #services: Pick<Services, 'db' | 'clock' | 'log'>;
  readonly #counting = new Map<string, { app: App; userId: string | null; requests: number }>();
  readonly #flushing: RepeatHandle;
  /** Rows that may or may not be stored: they keep their ids until the database has confirmed them. */
  #waiting: RequestCount[] = [];

  constructor(services: Pick<Services, 'db' | 'clock' | 'log'>) {
    this.#services = services;
    this.#flushing = repeat(
      FLUSH_MS,
      () => this.#flush(),
      (error) => services.log.warn({ err: error }, 'request counts could not be stored; they are kept'),
    );
  }

  count(app: App, userId: string | null): void {
    const key = `${app.instanceId} ${userId ?? ''}`;
    const known = this.#counting.get(key);
    if (known) known.requests += 1;
    else this.#counting.set(key, { app, userId, requests: 1 });
  }

  async close(): Promise<void> {
    await this.#flushing.stop();
    await this.#flush().catch((error: unknown) =>
      this.#services.log.error({ err: error, rows: this.#waiting.length }, 'request counts were lost'),
    );
  }

  async #flush(): Promise<void> {
    if (this.#waiting.length < MAX_WAITING) this.#take();
    if (this.#waiting.length === 0) return;
    const rows = this.#waiting.slice(0, MAX_WAITING);
    await storeRequestCounts(this.#services.db, rows);
    this.#waiting = this.#waiting.slice(rows.length);
  }

  #take(): void {
    const countedAt = this.#services.clock.now();
    for (const { app, userId, requests } of this.#counting.values()) {
      const { instanceId: appInstanceId, organizationId, projectId, allocationId, name } = app;
      const place = { appInstanceId, organizationId, projectId, allocationId };
      this.#waiting.push({ id: newId(), ...place, userId, app: name, requests, countedAt });
    }
    this.#counting.clear();
  }
}
