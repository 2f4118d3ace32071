import { sql } from 'kysely';
import type { Services } from '../../platform/services.ts';
import { claimDeliveries, type ClaimedDelivery } from './claim-deliveries.ts';
import { WEBHOOKS_CHANNEL } from './enqueue-delivery.ts';
import { postMessage } from './post-message.ts';
import { recordAttempt } from './record-attempt.ts';
import { validSecrets } from './rotate-secret.ts';
import { signMessage } from './signature.ts';
import { targetRules } from './target-rules.ts';

const MAX_IN_FLIGHT = 64;
const POLL_MS = 2000;
const PRUNE_MS = 3_600_000;

type DelivererServices = Pick<Services, 'db' | 'listener' | 'sealer' | 'clock' | 'policies' | 'log'>;

/** Attempts due deliveries. Any number of processes share the work; the schedule is in the rows. */
export class WebhookDeliverer {
  readonly #services: DelivererServices;
  readonly #stop = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  #done: Promise<void> = Promise.resolve();
  #pruneAt = 0;

  constructor(services: DelivererServices) {
    this.#services = services;
  }

  start(): void {
    this.#done = this.#run();
  }

  /** Finishes the running attempts; each has a deadline. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
    await Promise.all(this.#inFlight);
  }

  async #run(): Promise<void> {
    const { db, listener, log, policies } = this.#services;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const woken = listener.wait(WEBHOOKS_CHANNEL, POLL_MS, { signal });
      let claimed = 0;
      try {
        const free = MAX_IN_FLIGHT - this.#inFlight.size;
        const perTenant = policies.get('webhooks.max_in_flight');
        const deliveries = free > 0 ? await claimDeliveries(db, { limit: free, perTenant }) : [];
        claimed = deliveries.length;
        for (const delivery of deliveries) this.#track(this.#attempt(delivery));
        await this.#prune();
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'claiming webhook deliveries failed; trying again');
      }
      // A finished attempt frees a place, here and at its webhook.
      if (claimed > 0 || this.#inFlight.size > 0) await Promise.race([...this.#inFlight, woken]);
      else await woken;
    }
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { clock, policies, log } = this.#services;
    try {
      const startedAt = clock.now();
      const timestampSeconds = Math.floor(startedAt.getTime() / 1000);
      const secrets = validSecrets(this.#services, { ...delivery, id: delivery.webhook_id }, startedAt);
      const { event_id: id, url, body } = delivery;
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signMessage(secrets, { id, timestampSeconds, body }),
      };
      const outcome = await postMessage(
        { url, headers, body },
        targetRules(policies, delivery.organization_id),
      );
      await recordAttempt(this.#services, delivery, outcome, startedAt);
    } catch (error) {
      // The lease expires and another process tries again.
      log.warn({ err: error, delivery_id: delivery.id }, 'webhook attempt could not be settled');
    }
  }

  #track(attempt: Promise<void>): void {
    const tracked = attempt.finally(() => this.#inFlight.delete(tracked));
    this.#inFlight.add(tracked);
  }

  async #prune(): Promise<void> {
    const { clock, db, policies } = this.#services;
    const now = clock.now().getTime();
    if (now < this.#pruneAt) return;
    this.#pruneAt = now + PRUNE_MS;
    const days = policies.get('webhooks.delivery_log_days');
    await sql`delete from webhook_deliveries where created_at < now() - make_interval(days => ${days})`.execute(
      db,
    );
  }
}
