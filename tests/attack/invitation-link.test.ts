import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CookieBrowser } from '../harness/sign-in/cookie-browser.ts';
import { visitor } from '../harness/sign-in/identity-provider.ts';
import { startSite, type TestSite } from '../harness/sign-in/signed-in-site.ts';
import { newTenant, signUp, TestCaller, type Schemas, type TestTenant } from '../harness/tenancy.ts';

const newcomer = { sub: 'newcomer', email: 'newcomer@example.test', name: 'Newcomer', password: 'pw-3' };

let site: TestSite;
let tenant: TestTenant;
beforeAll(async () => {
  site = await startSite({ people: [visitor, newcomer] });
  tenant = await newTenant(site.api, 'host');
});
afterAll(() => site?.stop());

const invite = (email: string) =>
  tenant.admin.post<Schemas['InvitationWithToken']>('/api/v1/invitations', {
    organization_id: tenant.organizationId,
    email,
    permission_group: 'regular_user',
    project_id: tenant.projectId,
  });

async function organizationsOf(browser: CookieBrowser): Promise<string[]> {
  const answer = await site.send(browser, 'GET', '/api/v1/me');
  return ((await answer.json()) as Schemas['Me']).organizations.map(({ id }) => id);
}

async function asPerson(browser: CookieBrowser): Promise<TestCaller> {
  const { csrf } = await site.me(browser);
  return new TestCaller(site.api, { cookie: browser.header(site.url), 'x-csrf-token': csrf });
}

/** What the database knows of memberships and invitations. */
async function state(): Promise<string> {
  const { rows } = await sql`select
    (select json_agg(m order by id) from organization_members m) as members,
    (select json_agg(b order by id) from permission_bindings b) as bindings,
    (select json_agg(i order by id) from invitations i) as invitations`.execute(site.api.services.db);
  return JSON.stringify(rows);
}

describe('the link of an invitation', () => {
  it('changes nothing when somebody who is signed in follows it', async () => {
    const victim = new CookieBrowser();
    await site.signIn(victim);
    const { accept_url: link } = await invite(visitor.email);
    const before = await state();
    await victim.go(link!);
    // Neither does a link that leads through the sign-in, as those of older releases.
    await site.signIn(victim, { returnTo: `/?invitation=${new URL(link!).searchParams.get('token')}` });
    await site.signIn(victim, { returnTo: new URL(link!).pathname + new URL(link!).search });
    expect(await state()).toBe(before);
    expect(await organizationsOf(victim)).not.toContain(tenant.organizationId);
  });

  it('asks with the names of organization and inviter, and joins when the person agrees', async () => {
    const { accept_url: link, token } = await invite(newcomer.email);
    const browser = new CookieBrowser();
    const page = await site.signIn(browser, {
      person: newcomer,
      returnTo: new URL(link!).pathname + new URL(link!).search,
    });
    expect(page.url).toBe(link);
    // Invited, so no organization was made for them; not asked yet, so none was joined.
    expect(await organizationsOf(browser)).toEqual([]);
    const person = await asPerson(browser);
    const asked = await person.post<Schemas['InvitationPreview']>('/api/v1/invitations/preview', { token });
    expect(asked).toMatchObject({
      organization_name: "host's organization",
      project_name: 'default',
      permission_group: 'Regular User',
      invited_by: { name: 'host', email: tenant.admin.email },
    });
    expect(await organizationsOf(browser)).toEqual([]);
    await person.post('/api/v1/invitations/accept', { token });
    expect(await organizationsOf(browser)).toEqual([tenant.organizationId]);
  });

  it('tells a stranger nothing of the organization', async () => {
    const { token } = await invite('somebody-else@example.test');
    const stranger = await signUp(site.api, 'stranger');
    for (const path of ['preview', 'accept']) {
      const { status, body, text } = await stranger.ask('POST', `/api/v1/invitations/${path}`, { token });
      expect({ status, code: body['code'] }).toEqual({ status: 409, code: 'invitation_email_mismatch' });
      expect(text).not.toContain('host');
    }
  });
});

describe('an address that the platform’s identity provider does not confirm', () => {
  it('matches no invitation', async () => {
    const email = 'claimed@example.test';
    const { token } = await invite(email);
    const claimant = await signUp(site.api, 'claimant', { email, emailVerified: false });
    for (const path of ['preview', 'accept']) {
      expect(await claimant.ask('POST', `/api/v1/invitations/${path}`, { token })).toMatchObject({
        status: 403,
        body: { code: 'email_not_verified' },
      });
    }
    // Nor does it keep the claimant from an organization like anybody's.
    expect((await claimant.get<Schemas['Me']>('/api/v1/me')).organizations).toHaveLength(1);
    const owner = await signUp(site.api, 'owner', { email });
    expect((await owner.ask('POST', '/api/v1/invitations/accept', { token })).status).toBe(200);
  });
});
