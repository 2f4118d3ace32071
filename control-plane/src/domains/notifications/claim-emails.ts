import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';

/**
 * Longer than a session with a mail server can take; after a crash the e-mail is due again when the lease
 * expires.
 */
const LEASE_SECONDS = 180;

export interface ClaimedEmail {
  id: string;
  recipient: string;
  subject: string;
  text_body: string;
  html_body: string;
  /** Fences the outcome: a later claim has a higher one. */
  attempt: number;
  created_at: Date;
}

/** Leases e-mails that are due, oldest first; other processes skip them. */
export async function claimEmails(db: Db, limit: number): Promise<ClaimedEmail[]> {
  const { rows } = await sql<ClaimedEmail>`
    with due as (
      select id from notification_emails
      where state = 'pending' and next_attempt_at <= now() and leased_until < now()
      order by next_attempt_at limit ${limit} for update skip locked
    )
    update notification_emails e
    set attempts = e.attempts + 1, leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
    from due where e.id = due.id
    returning e.id, e.recipient, e.subject, e.text_body, e.html_body, e.attempts as attempt, e.created_at`.execute(
    db,
  );
  return rows;
}
