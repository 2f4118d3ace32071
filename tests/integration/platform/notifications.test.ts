import type { EventPayloads, EventType } from '@gpuaas/contracts/events';
import { notificationMessages } from '@gpuaas/contracts/generated/notifications.ts';
import { emitAllocation } from '@gpuaas/control-plane/domains/timeline/allocation-events';
import { openIncident } from '@gpuaas/control-plane/domains/incidents/open-incident';
import { claimEmails } from '@gpuaas/control-plane/domains/notifications/claim-emails';
import { EmailSender } from '@gpuaas/control-plane/domains/notifications/email-sender';
import { notifyPeople } from '@gpuaas/control-plane/domains/notifications/notify-people';
import { pruneNotifications } from '@gpuaas/control-plane/domains/notifications/prune-notifications';
import { recordEmailAttempt } from '@gpuaas/control-plane/domains/notifications/record-email-attempt';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { emit, type NewEvent } from '@gpuaas/control-plane/platform/events/emit';
import type { LoggedEvent } from '@gpuaas/control-plane/platform/events/event-log';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { openMailer } from '@gpuaas/control-plane/platform/outbound/mailer';
import {
  startSmtpServer,
  type SmtpServer,
} from '@gpuaas/control-plane/platform/outbound/testing/smtp-server';
import type { Services } from '@gpuaas/control-plane/platform/services';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { createTestApi, TEST_PUBLIC_URL, type TestApi } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import { lastEvent } from '../../harness/last-event.ts';

let api: TestApi;
let worker: Services;
let smtp: SmtpServer;
let tenant: string;
let project: string;
/** A lease of the member. */
let lease: string;

beforeAll(async () => {
  api = await createTestApi();
  worker = servicesAsRole(api.services, 'gpuaas_worker');
  smtp = await startSmtpServer();
  tenant = api.people['member']!.organizationId!;
  project = api.people['member']!.projectId!;
  lease = await seedAllocation(api.services.db, api.people['member']!);
  await sql`update allocations set name = 'train', owner_user_id = created_by, ends_at = now() + interval '1 hour'
    where id = ${lease}`.execute(api.services.db);
});
afterAll(async () => {
  await smtp?.close();
  await api?.stop();
});
beforeEach(async () => {
  smtp.received.length = 0;
  smtp.behave({ rcpt: '250 ok', data: '250 taken', credentials: null, goesAwayAfterData: false });
  await sql`delete from allocation_meters`.execute(api.services.db);
  await sql`delete from notifications`.execute(api.services.db);
  await sql`delete from notification_emails`.execute(api.services.db);
  await sql`delete from notification_preferences`.execute(api.services.db);
});

async function ask(person: string, method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  const answer = await api.server.inject({ method, url, headers, ...(payload ? { payload } : {}) });
  return { status: answer.statusCode, body: answer.json() };
}

interface Item {
  id: string;
  kind: string;
  title: string;
  body: string;
  link: string;
  read_at: string | null;
}
const inbox = async (person: string): Promise<Item[]> =>
  (await ask(person, 'GET', '/api/v1/notifications')).body.items;
const titles = async (person: string): Promise<string[]> => (await inbox(person)).map(({ title }) => title);

const people = () => notifyPeople(worker, { publicUrl: TEST_PUBLIC_URL });

const last = (type: EventType): Promise<LoggedEvent> => lastEvent(api.services.db, type);

async function happens<T extends EventType>(type: T, payload: EventPayloads[T]): Promise<LoggedEvent> {
  const event = { type, subjectId: tenant, organizationId: tenant, correlationId: newId(), payload };
  await api.services.db.transaction().execute((tx) => emit(tx, event as NewEvent));
  const logged = await last(type);
  await people().handle(logged);
  return logged;
}

const balance = (change: Partial<EventPayloads['billing.low_balance_warning']> = {}) => ({
  organization_id: tenant,
  project_id: null,
  project_ids: [project],
  currency: 'USD',
  available_micros: 4_500_000,
  per_hour_micros: 3_000_000,
  runs_out_at: '2026-12-01T10:30:00.000Z',
  stops_at: null,
  at_zero: 'Leases are released.',
  ...change,
});
const warn = () => happens('billing.low_balance_warning', balance());
const moved = (message: string): EventPayloads['allocation.failed'] => ({
  allocation_id: lease,
  organization_id: tenant,
  project_id: project,
  state: 'active',
  stage: 'active',
  status: 'running',
  message,
  percent: null,
});

describe('the inbox', () => {
  it('gets billing events of people who may see spend, once, with amount and forecast', async () => {
    const event = await warn();
    await people().handle(event);
    const [item, ...others] = await inbox('admin');
    expect(others).toEqual([]);
    expect(item).toMatchObject({ kind: 'low_balance', link: '/billing', read_at: null });
    expect(item!.title).toContain('runs out on 1 December 2026');
    for (const part of ['$4.50', '$3.00 per hour', '10:30 UTC', 'Leases are released.', 'Top up']) {
      expect(item!.body).toContain(part);
    }
    for (const person of ['member', 'other', 'operator']) expect(await inbox(person)).toEqual([]);
  });

  it('notifies owners of running leases of the effect, without the balance', async () => {
    await sql`insert into allocation_meters (allocation_id, organization_id, project_id, sku, region, gpu_count, currency,
        per_hour_micros, started_at)
      select id, organization_id, project_id, sku, region, 1, 'USD', 1, now() from allocations where id = ${lease}`.execute(
      api.services.db,
    );
    await happens('billing.balance_exhausted', balance({ stops_at: '2026-12-01T11:30:00.000Z' }));
    const [item] = await inbox('member');
    expect(item!.title).toContain('released on 1 December 2026');
    expect(item!.body).not.toContain('$');
    expect((await inbox('admin'))[0]!.body).toContain('$4.50');
  });

  it('has a text for every notified event, with every fact filled in', async () => {
    const notice = {
      allocation_id: lease,
      organization_id: tenant,
      project_id: project,
      window_id: newId(),
      starts_at: '2026-12-01T10:30:00.000Z',
      ends_at: '2026-12-01T11:30:00.000Z',
      reason: 'new firmware',
    };
    const budget = {
      budget_id: newId(),
      organization_id: tenant,
      project_id: null,
      scope_type: 'tenant' as const,
      scope_id: tenant,
      percent: 100,
      currency: 'USD',
      monthly_micros: 9_000_000,
      spent_micros: 12_099_596,
      at_cap: 'release' as const,
    };
    await warn();
    await happens('billing.balance_exhausted', balance({ stops_at: '2026-12-01T11:30:00.000Z' }));
    await happens('billing.leases_stopped', {
      organization_id: tenant,
      project_id: null,
      project_ids: [project],
      currency: 'USD',
      available_micros: -5,
      released: 3,
    });
    await happens('billing.budget_threshold_reached', budget);
    expect((await inbox('admin'))[0]).toMatchObject({
      title: 'Budget of Acme Research: 134% spent',
      body: expect.stringContaining('$12.10 of $9.00 spent this month.') as string,
    });
    const payment = {
      payment_id: newId(),
      organization_id: tenant,
      currency: 'USD',
      amount_micros: 5_000_000,
    };
    await happens('payments.balance_credited', {
      ...payment,
      provider: 'test',
      purpose: 'top_up',
      balance_micros: 9_500_000,
    });
    await happens('payments.payment_failed', { ...payment, purpose: 'auto_top_up', reason: 'Card declined' });
    await happens('payments.refunded', { ...payment, reason: 'Asked for' });
    await happens('payments.dispute_opened', { ...payment, state: 'open', reason: 'fraudulent' });
    await happens('payments.dispute_closed', { ...payment, state: 'won', reason: 'fraudulent' });
    await happens('allocation.ending', moved('Ends soon'));
    await happens('allocation.idle', moved('Its GPU has done nothing'));
    await happens('allocation.release_requested', {
      ...moved('The lease has reached its end time'),
      cause: 'agreed_end',
    });
    await happens('allocation.failed', moved('The image did not start'));
    await happens('allocation.release_failed', moved('The wipe failed'));
    await happens('allocation.host_silent', moved('No word from the host'));
    await happens('allocation.host_returned', moved('The machine is still there'));
    await happens('reservation.lapsed', {
      reservation_id: newId(),
      organization_id: tenant,
      project_id: project,
      region: 'uae-north-1',
      sku: 'h200-sxm-slice',
      node_count: 2,
      reason: 'training week',
      lapse_reason: 'unused',
      message: 'Less than 50% of its 16 GPUs were used for 3600 s.',
    });
    await happens('maintenance.scheduled', notice);
    await happens('maintenance.cancelled', notice);
    const account = {
      service_account_id: newId(),
      organization_id: tenant,
      project_id: project,
      name: 'robot',
    };
    await happens('service_account.tokens_revoked', { ...account, revoked: 2, left_by: 'former@acme.test' });
    await happens('service_account.rotation_due', { ...account, ends_at: '2026-12-01T10:30:00.000Z' });
    await api.services.db.transaction().execute((tx) =>
      openIncident(tx, new Date(), {
        type: 'allocation_machine_lost',
        targetType: 'allocation',
        targetId: lease,
        summary: 'The machine is gone.',
      }),
    );
    await people().handle(await last('incident.opened'));
    const { rows } = await sql<{ event_type: string; text: string }>`
      select event_type, title || body || link as text from notifications`.execute(api.services.db);
    expect(new Set(rows.map((row) => row.event_type))).toEqual(new Set(Object.keys(notificationMessages)));
    for (const { event_type, text } of rows) expect(text, event_type).not.toMatch(/[{}…]|undefined|NaN|\.\./);
    expect(await titles('operator')).toEqual(['Tenant machine not running']);
    expect(await titles('member')).toContain('Problem with train');
    expect(await titles('other')).toEqual([]);
    const touching = await ask('member', 'GET', `/api/v1/incidents?project_id=${project}`);
    expect(touching.body).toEqual({
      items: [
        {
          id: expect.any(String),
          title: 'The machine is not running',
          severity: 'major',
          state: 'open',
          allocation_ids: [lease],
          opened_at: expect.any(String),
          acknowledged_at: null,
        },
      ],
      next_page: null,
    });
  });

  it('is silent about a release that a person asked for', async () => {
    await api.services.db.transaction().execute((tx) =>
      emitAllocation(
        tx,
        'allocation.release_requested',
        {
          id: lease,
          organization_id: tenant,
          project_id: project,
          state: 'active',
          correlation_id: newId(),
        },
        { stage: 'release', status: 'running', message: 'Release requested' },
      ),
    );
    await people().handle(await last('allocation.release_requested'));
    expect(await inbox('member')).toEqual([]);
  });

  it('notifies of others’ leases only people who chose it and may see them', async () => {
    await happens('allocation.ending', moved('Ends soon'));
    expect(await titles('admin')).toEqual([]);
    const choices = [{ kind: 'project_leases', channel: 'inbox', enabled: true }];
    for (const person of ['admin', 'other']) {
      expect((await ask(person, 'PUT', '/api/v1/notification-preferences', { choices })).status).toBe(200);
    }
    await happens('allocation.ending', moved('Ends soon'));
    expect(await titles('admin')).toHaveLength(1);
    expect(await titles('member')).toHaveLength(2);
    expect(await titles('other')).toEqual([]);
  });

  it('is read one by one or up to what was seen, by its person alone', async () => {
    for (let i = 0; i < 3; i += 1) await warn();
    const page = await ask('admin', 'GET', '/api/v1/notifications?limit=2');
    expect(page.body).toMatchObject({ unread_count: 3 });
    const rest = await ask('admin', 'GET', `/api/v1/notifications?page=${page.body.next_page}`);
    const [newest, middle, oldest] = [...page.body.items, ...rest.body.items] as [Item, Item, Item];
    expect((await ask('member', 'POST', `/api/v1/notifications/${newest.id}/read`)).status).toBe(404);
    const marked = await ask('admin', 'POST', '/api/v1/notifications/read-all', { up_to: middle.id });
    expect(marked.body).toEqual({ marked: 2, unread_count: 1 });
    expect((await ask('admin', 'GET', '/api/v1/notifications?unread=true')).body.items).toMatchObject([
      { id: newest.id },
    ]);
    const read = await ask('admin', 'POST', `/api/v1/notifications/${newest.id}/read`);
    expect(read.body.read_at).not.toBeNull();
    const again = await ask('admin', 'POST', `/api/v1/notifications/${oldest.id}/read`);
    expect(again.status).toBe(200);
    expect((await ask('admin', 'GET', '/api/v1/notifications')).body.unread_count).toBe(0);
  });
});

describe('preferences', () => {
  it('are one’s own choice, the organization’s default otherwise', async () => {
    const url = `/api/v1/notification-preferences?organization_id=${tenant}`;
    const of = async (kind: string) =>
      (await ask('admin', 'GET', url)).body.preferences.find((one: { kind: string }) => one.kind === kind);
    expect(await of('low_balance')).toMatchObject({
      inbox: { enabled: true, chosen: false },
      email: { enabled: true, chosen: false },
    });
    const policy = `/api/v1/organizations/${tenant}/policies/notifications.email_kinds`;
    expect((await ask('admin', 'PUT', policy, { value: [] })).status).toBe(200);
    await api.services.policies.refresh();
    expect(await of('low_balance')).toMatchObject({ email: { enabled: false, chosen: false } });
    await warn();
    expect(await countEmails()).toBe(0);
    const choose = (enabled: boolean | null) =>
      ask('admin', 'PUT', '/api/v1/notification-preferences', {
        choices: [
          { kind: 'low_balance', channel: 'email', enabled },
          { kind: 'low_balance', channel: 'inbox', enabled: enabled === null ? null : !enabled },
        ],
      });
    expect((await choose(true)).status).toBe(200);
    expect(await of('low_balance')).toMatchObject({ email: { enabled: true, chosen: true } });
    await warn();
    expect(await countEmails()).toBe(1);
    expect(await inbox('admin')).toHaveLength(1);
    await choose(null);
    expect(await of('low_balance')).toMatchObject({ email: { enabled: false, chosen: false } });
    await sql`delete from policy_values where key like 'notifications.%'`.execute(api.services.db);
    await api.services.policies.refresh();
    const foreign = `/api/v1/notification-preferences?organization_id=${api.people['other']!.organizationId}`;
    expect((await ask('admin', 'GET', foreign)).status).toBe(404);
  });
});

async function countEmails(): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from notification_emails`.execute(
    api.services.db,
  );
  return rows[0]!.n;
}

describe('e-mails', () => {
  const settings = () => ({
    host: '127.0.0.1',
    port: smtp.port,
    secure: false,
    requireTls: true,
    user: null,
    password: null,
    ca: smtp.ca,
    from: 'cloud@gpuaas.test',
  });
  const email = async () => {
    const { rows } = await sql<{ state: string; attempts: number; last_error: string | null }>`
      select state, attempts, last_error from notification_emails`.execute(api.services.db);
    return rows[0]!;
  };
  const dueNow = () =>
    sql`update notification_emails set next_attempt_at = now(), leased_until = '-infinity'`.execute(
      api.services.db,
    );
  /** Runs a sender until the e-mail is as it should be. */
  async function send(done: (row: Awaited<ReturnType<typeof email>>) => boolean) {
    const sender = new EmailSender(worker, openMailer(settings()));
    sender.start();
    try {
      return await eventually('the e-mail', async () => {
        const row = await email();
        return done(row) ? row : null;
      });
    } finally {
      await sender.stop();
    }
  }

  it('carry the same words as the inbox, escaped, with a link', async () => {
    await sql`update organizations set name = '<b>Acme</b> & "Sons"' where id = ${tenant}`.execute(
      api.services.db,
    );
    await warn();
    expect(await send(({ state }) => state === 'sent')).toMatchObject({ attempts: 1 });
    const [mail, ...others] = smtp.received;
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ to: [api.people['admin']!.email], encrypted: true });
    const source = mail!.source.replaceAll(/=\n/g, '').replaceAll('=3D', '=').replaceAll('=22', '"');
    expect(source).toContain('&lt;b&gt;Acme&lt;/b&gt; &amp; &quot;Sons&quot;');
    expect(source).toContain(`href="${TEST_PUBLIC_URL}/billing"`);
    expect(source.slice(source.indexOf('<!doctype'))).not.toContain('<b>Acme');
    await sql`update organizations set name = 'Acme' where id = ${tenant}`.execute(api.services.db);
  });

  it('are tried again when the server says “not now”, and given up when it says “never”', async () => {
    smtp.behave({ rcpt: '450 4.2.0 greylisted' });
    await warn();
    const waiting = await send(({ last_error }) => last_error !== null);
    expect(waiting).toMatchObject({ state: 'pending', attempts: 1 });
    smtp.behave({ rcpt: '550 5.1.1 no such user' });
    await dueNow();
    expect(await send(({ state }) => state === 'failed')).toMatchObject({ attempts: 2 });
    expect(smtp.received).toEqual([]);
  });

  it('are retried while nothing gets through, with an incident that closes automatically', async () => {
    const incident = async () =>
      (await ask('operator', 'GET', '/api/v1/admin/incidents?type=email_failing')).body.items[0];
    smtp.behave({ credentials: { user: 'somebody', password: 'else' } });
    await warn();
    for (const attempt of [1, 2, 3]) {
      await dueNow();
      await send(({ attempts, last_error }) => attempts >= attempt && last_error !== null);
    }
    await eventually('the incident', async () => (await incident()) ?? null);
    expect(await incident()).toMatchObject({ state: 'open' });
    expect(await email()).toMatchObject({ state: 'pending' });
    smtp.behave({ credentials: null });
    await dueNow();
    await send(({ state }) => state === 'sent');
    expect(await incident()).toMatchObject({ state: 'resolved' });
  });

  it('are given up at their deadline', async () => {
    smtp.behave({ rcpt: '450 4.2.0 greylisted' });
    await warn();
    await sql`update notification_emails set created_at = now() - interval '1 day'`.execute(api.services.db);
    expect(await send(({ state }) => state !== 'pending')).toMatchObject({ state: 'failed' });
  });

  it('of a sender that died before it could note the sending go again under the same id, and no third time', async () => {
    await warn();
    const [claimed] = await claimEmails(worker.db, 10);
    const mailer = openMailer(settings());
    const { id, recipient, subject, text_body, html_body } = claimed!;
    await mailer.send({ id, to: recipient, subject, text: text_body, html: html_body });
    expect(await claimEmails(worker.db, 10)).toEqual([]);
    await dueNow();
    await send(({ state }) => state === 'sent');
    await recordEmailAttempt(worker, claimed!, { result: 'refused', error: 'a late outcome' });
    expect(await email()).toMatchObject({ state: 'sent' });
    await send(({ state }) => state === 'sent');
    const ids = smtp.received.map(({ source }) => /^message-id: (.*)$/im.exec(source)![1]);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it('and notifications are forgotten when they are old', async () => {
    await warn();
    await sql`update notifications set created_at = now() - interval '91 days'`.execute(api.services.db);
    await pruneNotifications.run(worker, { from: new Date(), to: new Date() });
    expect(await inbox('admin')).toEqual([]);
    expect(await countEmails()).toBe(1);
  });
});
