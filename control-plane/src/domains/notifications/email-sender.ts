import type { Mailer } from '../../platform/outbound/mailer.ts';
import type { Services } from '../../platform/services.ts';
import { claimEmails, type ClaimedEmail } from './claim-emails.ts';
import { EMAILS_CHANNEL } from './notify-people.ts';
import { recordEmailAttempt } from './record-email-attempt.ts';

const BATCH = 4;
const POLL_MS = 5000;

type SenderServices = Pick<Services, 'db' | 'listener' | 'clock' | 'policies' | 'log'>;

/**
 * Sends due e-mails. Any number of processes share the work; the schedule is in the rows. A process that dies
 * after the server accepted a message and before that was recorded sends it again with the same Message-ID,
 * because SMTP cannot be queried.
 */
export class EmailSender {
  readonly #services: SenderServices;
  readonly #mailer: Mailer;
  readonly #stop = new AbortController();
  #done: Promise<unknown> = Promise.resolve();

  constructor(services: SenderServices, mailer: Mailer) {
    this.#services = services;
    this.#mailer = mailer;
  }

  start(): void {
    this.#done = this.#run();
  }

  /** Finishes running sessions; each has a deadline. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { db, listener, log } = this.#services;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const woken = listener.wait(EMAILS_CHANNEL, POLL_MS, { signal });
      let claimed: ClaimedEmail[] = [];
      try {
        claimed = await claimEmails(db, BATCH);
        await Promise.all(claimed.map((email) => this.#attempt(email)));
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'claiming e-mails failed; trying again');
      }
      if (claimed.length === 0) await woken;
    }
  }

  async #attempt(email: ClaimedEmail): Promise<void> {
    const { log } = this.#services;
    const { id, recipient: to, subject, text_body: text, html_body: html, attempt } = email;
    try {
      const outcome = await this.#mailer.send({ id, to, subject, text, html });
      if (outcome.result !== 'sent')
        log.warn({ email_id: id, attempt, ...outcome }, 'an e-mail was not taken');
      await recordEmailAttempt(this.#services, email, outcome);
    } catch (error) {
      // The lease expires and another process retries.
      log.warn({ err: error, email_id: id }, 'an e-mail could not be settled');
    }
  }
}
