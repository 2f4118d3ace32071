import type { Db } from '../db/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Bus, Consumer, Consumption } from './consumer.ts';
import { handleInOrder } from './handle-in-order.ts';
import { NatsSource } from './nats-source.ts';
import { NatsLink } from './nats-stream.ts';
import { BATCH_WINDOW_MS, runConsumer } from './run-consumer.ts';

/** Events through JetStream, where the relay publishes them. */
export class NatsBus implements Bus {
  readonly kind = 'nats';
  readonly #db: Db;
  readonly #log: Logger;
  readonly #link: NatsLink;
  readonly #parkAfter: (() => number) | undefined;
  readonly #running: Consumption[] = [];

  constructor(db: Db, log: Logger, natsUrl: string, parkAfter?: () => number) {
    this.#db = db;
    this.#parkAfter = parkAfter;
    this.#log = log;
    this.#link = new NatsLink(natsUrl, 'gpuaas consumers');
  }

  async consume(consumer: Consumer): Promise<Consumption> {
    const consumption = await runConsumer(this.#db, this.#log, {
      name: consumer.name,
      startFrom: consumer.startFrom,
      openSource: async () => await NatsSource.open(this.#db, await this.#link.connection()),
      handleBatch: handleInOrder(consumer),
      gatherMs: BATCH_WINDOW_MS,
      ...(this.#parkAfter ? { parkAfter: this.#parkAfter } : {}),
    });
    this.#running.push(consumption);
    return consumption;
  }

  check(): Promise<string> {
    return this.#link.check();
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((consumption) => consumption.stop()));
    await this.#link.close();
  }
}
