import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Consumer } from '../../platform/events/consumer.ts';
import { emitAll, type NewEvent } from '../../platform/events/emit.ts';
import { handleOnce } from '../../platform/events/handle-once.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { chooseRecipients, type Recipient } from './choose-recipients.ts';
import { loadMessageFacts } from './load-message-facts.ts';
import { toNotifiableEvent, messageFor, notifiedEvents, type NotifiableEvent } from './notified-events.ts';
import { preferencesByUser, isSubscribed, type Channel } from './preferences.ts';
import { renderEmail } from './render-email.ts';
import { renderMessage, type Rendered } from './render-message.ts';
import { present } from '../../platform/present.ts';

const NAME = 'notifications';

export const EMAILS_CHANNEL = 'gpuaas_emails';

type Needs = Pick<Services, 'db' | 'policies'>;

/** Base of the links in e-mails; null if none are sent. */
export interface EmailOptions {
  publicUrl: string;
}

/** Notifies people of an event. Inbox, queued e-mails and the mark of the event commit together. */
export function notifyPeople(services: Needs, email: EmailOptions | null): Consumer {
  return {
    name: NAME,
    types: notifiedEvents,
    startFrom: 'now',
    async handle(logged) {
      const event = toNotifiableEvent(logged);
      if (!event) return;
      await services.db.transaction().execute(async (tx) => {
        await handleOnce(tx, NAME, event.eventId, () => notify(services, tx, event, email));
      });
    },
  };
}

interface Notified extends Recipient {
  message: Rendered;
}

async function notify(
  { policies }: Needs,
  tx: Tx,
  event: NotifiableEvent,
  email: EmailOptions | null,
): Promise<void> {
  const recipients = [...(await chooseRecipients(policies, tx, event)).values()];
  if (recipients.length === 0) return;
  const facts = await loadMessageFacts(tx, event);
  const { link, to } = messageFor(event);
  const choices = await preferencesByUser(
    tx,
    recipients.map(({ person }) => person.id),
  );
  const notified = recipients.map((recipient): Notified => {
    const words = { link, ...present(to[recipient.audience], `words for ${recipient.audience}`) };
    return { ...recipient, message: renderMessage(words, { ...facts, ...recipient.facts }) };
  });
  const by = (channel: Channel): Notified[] =>
    notified.filter(
      ({ person, kind, organizationId }) =>
        isSubscribed(policies, choices.get(person.id) ?? [], { kind, channel, organizationId }).enabled,
    );
  await putIntoInboxes(tx, event, by('inbox'));
  if (email) await enqueueEmails(tx, event, by('email'), email.publicUrl);
}

async function putIntoInboxes(tx: Tx, event: NotifiableEvent, notified: Notified[]): Promise<void> {
  if (notified.length === 0) return;
  const { severity } = messageFor(event);
  const rows = await tx
    .insertInto('notifications')
    .values(
      notified.map(({ person, kind, organizationId, message }) => ({
        id: newId(),
        user_id: person.id,
        about_organization_id: organizationId,
        event_id: event.eventId,
        event_type: event.type,
        kind,
        severity,
        ...message,
      })),
    )
    .onConflict((c) => c.columns(['event_id', 'user_id']).doNothing())
    .returning(['id', 'user_id', 'about_organization_id', 'kind', 'title'])
    .execute();
  const events = rows.map((row): NewEvent => ({
    type: 'notification.created',
    subjectId: row.user_id,
    organizationId: row.about_organization_id,
    correlationId: event.correlationId,
    payload: {
      notification_id: row.id,
      user_id: row.user_id,
      kind: row.kind,
      severity,
      title: row.title,
    },
  }));
  if (events.length > 0) await emitAll(tx, events);
}

async function enqueueEmails(
  tx: Tx,
  event: NotifiableEvent,
  notified: Notified[],
  publicUrl: string,
): Promise<void> {
  const rows = notified
    .filter(({ person }) => person.email !== '')
    .map(({ person, message }) => {
      const { subject, text, html } = renderEmail(message, publicUrl);
      return {
        id: newId(),
        user_id: person.id,
        event_id: event.eventId,
        recipient: person.email,
        subject,
        text_body: text,
        html_body: html,
      };
    });
  if (rows.length === 0) return;
  await tx
    .insertInto('notification_emails')
    .values(rows)
    .onConflict((c) => c.columns(['event_id', 'user_id']).doNothing())
    .execute();
  await sql`select pg_notify(${EMAILS_CHANNEL}, '')`.execute(tx);
}
