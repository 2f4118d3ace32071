import { once } from 'node:events';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import type { WebSocket } from 'ws';
import type { Allocation } from '../../harness/allocations/allocations.ts';
import { AppClient } from '../../harness/apps/app-client.ts';
import { launchMachine, startWebApp, type WebApp } from '../../harness/apps/web-app.ts';
import { useCli } from '../../harness/cli/cli.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

type Sharing = 'owner' | 'project' | 'organization' | 'public';

const PATH = '/api/v1/app-instances/{app_instance_id}/share-links';
const NAVIGATION = {
  accept: 'text/html',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-site': 'none',
};
const cli = useCli();
let platform: TestPlatform;
let allocation: Allocation;
let app: WebApp;
let sibling: WebApp;
let client: AppClient;
let colleague: string;

beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  allocation = await launchMachine(platform);
  app = await startWebApp(platform, allocation, { slug: 'shared', port: 8000 });
  sibling = await startWebApp(platform, allocation, { slug: 'private', port: 8001 });
  client = new AppClient(platform.appsPort, app.label);
  colleague = await makeColleague();
});
afterAll(() => platform?.stop());

/** Key of a service account with rights in another project of the organization. */
async function makeColleague(): Promise<string> {
  const { organization_id } = allocation;
  const project = await unwrap(
    platform.admin.POST('/api/v1/projects', { body: { organization_id, name: 'Elsewhere' } }),
  );
  const { service_account, token } = await unwrap(
    platform.admin.POST('/api/v1/service-accounts', { body: { project_id: project.id, name: 'colleague' } }),
  );
  await unwrap(
    platform.admin.POST('/api/v1/permission-bindings', {
      body: {
        organization_id,
        project_id: project.id,
        permission_group: 'regular_user',
        holder: { type: 'service_account', id: service_account.id },
      },
    }),
  );
  return token!;
}

const params = () => ({ path: { app_instance_id: app.instanceId } });
const share = (sharing: Sharing, by = platform.member) =>
  unwrap(by.PUT('/api/v1/app-instances/{app_instance_id}/address', { params: params(), body: { sharing } }));
const allowPublic = (value: boolean) =>
  unwrap(
    platform.operator.PUT('/api/v1/admin/policies/{policy_name}', {
      params: { path: { policy_name: 'apps.public_sharing' } },
      body: { value, reason: 'For the tests.' },
    }),
  );
const makeLink = async (expires_in_seconds = 3600, by = platform.member) =>
  await unwrap(by.POST(PATH, { params: params(), body: { expires_in_seconds, note: 'a guest' } }));
const revoke = (share_link_id: string, by = platform.member) =>
  by.DELETE(`${PATH}/{share_link_id}`, { params: { path: { ...params().path, share_link_id } } });

async function statusWith(key: string, at = client): Promise<number> {
  return (await at.call('/', { headers: { authorization: `Bearer ${key}` } })).status;
}

async function statuses(): Promise<Record<string, number>> {
  const { member, admin, other } = platform.keys;
  return {
    owner: await statusWith(member),
    project: await statusWith(admin),
    organization: await statusWith(colleague),
    foreigner: await statusWith(other),
    stranger: (await client.call('/')).status,
  };
}

/** The cookie that a browser gets for the link. */
async function follow(url: string, at = client): Promise<{ status: number; cookie: string }> {
  const { pathname, search } = new URL(url);
  const entered = await at.call(`${pathname}${search}`, { headers: NAVIGATION });
  return { status: entered.status, cookie: entered.headers['set-cookie']?.[0]?.split(';')[0] ?? '' };
}

async function openSocket(headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = client.webSocket('/ws', headers);
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  return socket;
}

/** Five seconds are promised; a machine that is busy with other tests takes several times that. */
async function expectCut(socket: WebSocket): Promise<void> {
  const since = performance.now();
  if (socket.readyState !== socket.CLOSED) await once(socket, 'close');
  expect(performance.now() - since).toBeLessThan(30_000);
}

async function auditedActions(): Promise<string[]> {
  const { rows } = await sql<{ action: string }>`select distinct action from audit_logs
    where target_id = ${app.instanceId} and result = 'succeeded' and action like 'app_instance.%share%'
    order by 1`.execute(platform.services.db);
  return rows.map(({ action }) => action);
}

describe('an app that is shared', () => {
  it('with nobody, its project or its organization opens to them alone', async () => {
    const closed = { owner: 200, project: 403, organization: 403, foreigner: 403, stranger: 401 };
    expect(await statuses()).toEqual(closed);
    await share('project');
    expect(await statuses()).toEqual({ ...closed, project: 200 });
    await share('organization');
    expect(await statuses()).toEqual({ ...closed, project: 200, organization: 200 });
    const other = new AppClient(platform.appsPort, sibling.label);
    expect(await statusWith(colleague, other)).toBe(403);
  });

  it('is cut for those whom a narrower level leaves out, and colleagues may narrow it', async () => {
    await share('organization');
    const socket = await openSocket({ authorization: `Bearer ${colleague}` });
    const kept = await openSocket({ authorization: `Bearer ${platform.keys.member}` });
    await expect(share('organization', platform.stranger)).rejects.toMatchObject({ code: 'not_found' });
    await share('project', platform.admin);
    await expectCut(socket);
    expect(kept.readyState).toBe(kept.OPEN);
    kept.terminate();
    await expect(share('organization', platform.admin)).rejects.toMatchObject({
      code: 'app_of_another_person',
    });
    await share('owner');
  });
});

describe('a share link', () => {
  it('opens its app for a browser that shows nothing else, and tells the app nothing of who it is', async () => {
    const { url, share_link } = await makeLink();
    const { status, cookie } = await follow(url!);
    expect(status).toBe(303);
    const page = await client.call('/', {
      headers: { ...NAVIGATION, cookie, 'x-gpuaas-user': 'forged' },
    });
    expect(page.status).toBe(200);
    const { headers } = JSON.parse(page.text) as { headers: Record<string, string> };
    expect(headers).not.toHaveProperty('x-gpuaas-user');
    expect(headers).not.toHaveProperty('cookie');
    const foreign = { cookie, origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await client.call('/', { method: 'POST', headers: foreign })).status).toBe(403);
    const listed = await unwrap(platform.member.GET(PATH, { params: params() }));
    expect(listed.items).toContainEqual(share_link);
    expect(JSON.stringify(listed)).not.toContain('gpl_');
    const { rows } = await sql<{
      row: string;
    }>`select app_share_links::text as row from app_share_links`.execute(platform.services.db);
    expect(rows.map(({ row }) => row).join()).not.toContain(new URL(url!).searchParams.get('share'));
  });

  it('opens neither another app nor the console', async () => {
    const { url } = await makeLink();
    const other = new AppClient(platform.appsPort, sibling.label);
    expect((await follow(url!, other)).status).toBe(403);
    const { cookie } = await follow(url!);
    expect((await other.call('/', { headers: { ...NAVIGATION, cookie } })).status).toBe(303);
    const secret = new URL(url!).searchParams.get('share')!;
    for (const headers of [{ cookie }, { authorization: `Bearer ${secret}` }])
      expect((await fetch(`${platform.baseUrl}/api/v1/me`, { headers })).status).toBe(401);
    const asKey = await client.call('/', { headers: { authorization: `Bearer ${secret}` } });
    expect(asKey.status).toBe(401);
  });

  it('is made by the owner, for as long as the policy allows, and revoked by those who may share', async () => {
    await expect(makeLink(3600, platform.admin)).rejects.toMatchObject({ code: 'app_of_another_person' });
    await expect(makeLink(3600, platform.stranger)).rejects.toMatchObject({ code: 'not_found' });
    await expect(makeLink(8 * 86_400)).rejects.toMatchObject({ code: 'app_sharing_not_allowed' });
    const { url, share_link } = await makeLink();
    const { cookie } = await follow(url!);
    const socket = await openSocket({ cookie, origin: `http://${client.host}` });
    expect((await revoke(share_link.id, platform.stranger)).response.status).toBe(404);
    expect((await revoke(share_link.id, platform.admin)).response.status).toBe(204);
    await expectCut(socket);
    expect((await follow(url!)).status).toBe(403);
    expect((await client.call('/', { headers: { ...NAVIGATION, cookie } })).status).toBe(303);
    expect((await revoke(share_link.id)).response.status).toBe(404);
    expect(await auditedActions()).toEqual([
      'app_instance.create_share_link',
      'app_instance.revoke_share_link',
      'app_instance.share',
    ]);
  });

  it('ends when its time is over', async () => {
    const { url, share_link } = await makeLink();
    const { cookie } = await follow(url!);
    const socket = await openSocket({ cookie, origin: `http://${client.host}` });
    await sql`update app_share_links set created_at = now() - interval '2 minutes', expires_at = now() - interval '1 minute'
      where id = ${share_link.id}`.execute(platform.services.db);
    await expectCut(socket);
    expect((await follow(url!)).status).toBe(403);
    const { items } = await unwrap(platform.member.GET(PATH, { params: params() }));
    expect(items).not.toContainEqual(share_link);
  });
});

describe('a public app', () => {
  it('needs a policy that allows it, and opens to everybody without naming them', async () => {
    await expect(share('public')).rejects.toMatchObject({ code: 'app_sharing_not_allowed' });
    expect((await client.call('/')).status).toBe(401);
    await allowPublic(true);
    await expect
      .poll(
        () =>
          share('public').then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    const before = await countedRequests();
    // Each gateway reads a changed policy within moments.
    await expect.poll(async () => (await client.call('/')).status, { timeout: 20_000 }).toBe(200);
    const seen = await client.call('/', { headers: { 'x-gpuaas-user': 'forged' } });
    expect(JSON.parse(seen.text)).not.toHaveProperty('headers.x-gpuaas-user');
    const stale = await client.call('/', { headers: { ...NAVIGATION, cookie: '__Host-gpuaas_app=old' } });
    expect(stale.status).toBe(200);
    expect(await statusWith(platform.keys.other)).toBe(403);
    expect(await statusWith('gpk_wrong')).toBe(401);
    // The sibling stays closed.
    const other = new AppClient(platform.appsPort, sibling.label);
    expect((await other.call('/')).status).toBe(401);
    await expect.poll(countedRequests, { timeout: 20_000 }).toBeGreaterThan(before);
  });

  it('limits what one address may ask', async () => {
    const burst = (value: number) =>
      unwrap(
        platform.operator.PUT('/api/v1/admin/policies/{policy_name}', {
          params: { path: { policy_name: 'apps.anonymous_burst' } },
          body: { value, reason: 'For the tests.' },
        }),
      );
    await burst(1);
    const answers = async () =>
      (await Promise.all([1, 2, 3, 4, 5].map(() => client.call('/')))).map((a) => a.status);
    await expect.poll(answers, { timeout: 20_000 }).toContain(429);
    expect(await statusWith(platform.keys.member)).toBe(200);
    await burst(400);
  });

  it('is cut for strangers when the policy or the owner ends it', async () => {
    await expect.poll(async () => (await client.call('/')).status, { timeout: 20_000 }).toBe(200);
    const byPolicy = await openSocket();
    await allowPublic(false);
    await expectCut(byPolicy);
    await expect.poll(async () => (await client.call('/')).status, { timeout: 20_000 }).toBe(401);
    expect(await statusWith(colleague)).toBe(200);
    await allowPublic(true);
    await expect.poll(async () => (await client.call('/')).status, { timeout: 20_000 }).toBe(200);
    const byOwner = await openSocket();
    await share('owner');
    await expectCut(byOwner);
    expect((await client.call('/')).status).toBe(401);
  });
});

describe('gpuaas apps share', () => {
  it('shows and changes who may open an app, makes a link and revokes it', async () => {
    const env = { GPUAAS_URL: platform.baseUrl, GPUAAS_API_KEY: platform.keys.member };
    const run = async (...args: string[]) => {
      const done = await cli.run(['apps', 'share', app.instanceId, ...args, '--json'], env);
      expect(done.stderr).toBe('');
      return JSON.parse(done.stdout) as {
        sharing: string;
        url?: string;
        links: { id: string; note: string }[];
      };
    };
    expect(await run('--with', 'project')).toMatchObject({ sharing: 'project' });
    const made = await run('--with', 'owner', '--link', '3600', '--note', 'by command');
    expect(made.sharing).toBe('owner');
    expect((await follow(made.url!)).status).toBe(303);
    const { id } = made.links.find((link) => link.note === 'by command')!;
    const left = await run('--revoke', id);
    expect(left.links.map((link) => link.id)).not.toContain(id);
    expect((await follow(made.url!)).status).toBe(403);
  });
});

async function countedRequests(): Promise<number> {
  const { rows } = await sql<{ requests: number }>`select coalesce(sum(requests), 0)::int as requests
    from app_request_counts where app_instance_id = ${app.instanceId} and user_id is null`.execute(
    platform.services.db,
  );
  return rows[0]!.requests;
}
