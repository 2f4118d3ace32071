import { sql } from 'kysely';
import { sanitizeText } from '@gpuaas/contracts/sanitize';
import type { MailOutcome } from '../../platform/outbound/mailer.ts';
import type { Services } from '../../platform/services.ts';
import { openIncident, resolveIncident } from '../incidents/open-incident.ts';
import type { ClaimedEmail } from './claim-emails.ts';
import { present } from '../../platform/present.ts';

/** Seconds to wait after the first, second … failed attempt; the last one from then on. */
const RETRY_SECONDS = [60, 300, 900, 3600, 10_800] as const;
/** Failed attempts of one e-mail after which an incident is opened. */
const FAILING_ATTEMPTS = 3;
const INCIDENT = { type: 'email_failing', targetType: 'mail_server', targetId: 'smtp' } as const;

/** Records the result of an attempt, unless a later claim has it. */
export async function recordEmailAttempt(
  { db, clock, policies }: Pick<Services, 'db' | 'clock' | 'policies'>,
  email: ClaimedEmail,
  outcome: MailOutcome,
): Promise<void> {
  const now = clock.now();
  const delay = present(RETRY_SECONDS[Math.min(email.attempt, RETRY_SECONDS.length) - 1], 'delay');
  const deadline = email.created_at.getTime() + policies.get('notifications.email_deadline_seconds') * 1000;
  const again = outcome.result === 'later' && now.getTime() + delay * 1000 <= deadline;
  const state = outcome.result === 'sent' ? 'sent' : again ? 'pending' : 'failed';
  const error = outcome.result === 'sent' ? null : sanitizeText(outcome.error);
  await db.transaction().execute(async (tx) => {
    await sql`
      update notification_emails
      set state = ${state}, leased_until = '-infinity', last_error = ${error},
        next_attempt_at = now() + make_interval(secs => ${again ? delay : 0}),
        finished_at = case when ${state} = 'pending' then null else now() end
      where id = ${email.id} and attempts = ${email.attempt} and state = 'pending'`.execute(tx);
    if (outcome.result === 'later' && outcome.broken && email.attempt >= FAILING_ATTEMPTS) {
      await openIncident(tx, now, {
        ...INCIDENT,
        summary: `The mail server lets nothing through: ${error}`,
        detail: { error },
      });
    }
    if (outcome.result === 'sent') {
      await resolveIncident(tx, now, INCIDENT, 'An e-mail got through.');
    }
  });
}
