import type { Db } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Bus, Consumer, Consumption } from './consumer.ts';
import { handleInOrder } from './handle-in-order.ts';
import { LogFollower } from './log-follower.ts';
import { BATCH_WINDOW_MS, runConsumer } from './run-consumer.ts';

/** Reads events directly from the log in Postgres. */
export class EmbeddedBus implements Bus {
  readonly kind = 'embedded';
  readonly #db: Db;
  readonly #listener: Listener;
  readonly #log: Logger;
  readonly #parkAfter: (() => number) | undefined;
  readonly #running: Consumption[] = [];

  constructor(db: Db, listener: Listener, log: Logger, parkAfter?: () => number) {
    this.#db = db;
    this.#parkAfter = parkAfter;
    this.#listener = listener;
    this.#log = log;
  }

  async consume(consumer: Consumer): Promise<Consumption> {
    const consumption = await runConsumer(this.#db, this.#log, {
      name: consumer.name,
      startFrom: consumer.startFrom,
      openSource: () => Promise.resolve(new LogFollower(this.#db, this.#listener)),
      handleBatch: handleInOrder(consumer),
      gatherMs: BATCH_WINDOW_MS,
      ...(this.#parkAfter ? { parkAfter: this.#parkAfter } : {}),
    });
    this.#running.push(consumption);
    return consumption;
  }

  check(): Promise<string> {
    return checkListener(this.#listener);
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((consumption) => consumption.stop()));
  }
}

/** Without it readers poll, which is slower but loses nothing. */
export async function checkListener(listener: Listener): Promise<string> {
  if (!listener.connected) throw new Error('PostgreSQL cannot wake readers: the LISTEN connection is down');
  return 'woken by PostgreSQL';
}
