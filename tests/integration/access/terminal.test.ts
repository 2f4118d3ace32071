import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGpuaasClient, type GpuaasClient } from '@gpuaas/sdk/client';
import { subscribeEvents, type EventEnvelope } from '@gpuaas/sdk/events';
import { unwrap } from '@gpuaas/sdk/problem';
import {
  getAllocation,
  launch,
  release,
  waitForState,
  type Allocation,
} from '../../harness/allocations/allocations.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';
import { disposableRole } from '../../harness/processes/disposable-role.ts';
import { mintTerminalToken, TestTerminal } from '../../harness/access/terminal.ts';
import { openSignIn } from '../../harness/sign-in/open-sign-in.ts';

let platform: TestPlatform;
let allocation: Allocation;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const launched = await launch(platform.member, platform.projectId, 1);
  allocation = await waitForState(platform.member, launched.id, 'active');
});
afterAll(() => platform?.stop());

describe('web terminal', () => {
  it('opens once per token, also when ten race for it', async () => {
    const { token, websocket_path } = await mintTerminalToken(platform.member, allocation.id);
    const racers = Array.from(
      { length: 10 },
      () => new TestTerminal(platform.baseUrl, websocket_path, token),
    );
    const results = await Promise.allSettled(racers.map((racer) => racer.ready));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    const winner = racers[results.findIndex((result) => result.status === 'fulfilled')]!;
    const loser = racers[results.findIndex((result) => result.status === 'rejected')]!;
    expect((await loser.ended).code).toBe(4401);
    winner.close();
  });

  it('refuses an unknown token and a page of another site', async () => {
    const { token, websocket_path } = await mintTerminalToken(platform.member, allocation.id);
    const unknown = new TestTerminal(platform.baseUrl, websocket_path, 'x'.repeat(43));
    expect((await unknown.ended).code).toBe(4401);
    const foreign = new TestTerminal(platform.baseUrl, websocket_path, token, 'https://evil.example');
    await expect(foreign.ready).rejects.toThrow(/403/);
  });

  it('gives no token to another tenant', async () => {
    await expect(mintTerminalToken(platform.stranger, allocation.id)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it.skipIf(!existsSync('/usr/bin/bwrap'))(
    'carries a shell and is cut when the allocation is released (needs bubblewrap)',
    async () => {
      const other = await launch(platform.member, platform.projectId, 1);
      await waitForState(platform.member, other.id, 'active');
      const { token, websocket_path } = await mintTerminalToken(platform.member, other.id);
      const terminal = new TestTerminal(platform.baseUrl, websocket_path, token);
      await terminal.ready;
      terminal.type('echo "sum $((20+22))"\n');
      await expect.poll(() => terminal.output).toContain('sum 42');
      await release(platform.member, other.id);
      const end = await terminal.ended;
      expect(end.message).toMatch(/released/);
      await expect(mintTerminalToken(platform.member, other.id)).rejects.toMatchObject({
        code: 'allocation_not_active',
      });
      await waitForState(platform.member, other.id, 'released');
    },
  );
});

describe('the right to a terminal', () => {
  const noLonger = { message: 'You no longer have permission to connect to this machine.' };

  it.skipIf(!existsSync('/usr/bin/bwrap'))(
    'ends with the credential it was got with (needs bubblewrap)',
    async () => {
      const { api_key, secret } = await unwrap(
        platform.member.POST('/api/v1/api-keys', {
          body: { name: 'terminal', organization_id: allocation.organization_id },
        }),
      );
      const holder = createGpuaasClient({ baseUrl: platform.baseUrl, apiKey: secret! });
      const open = await openTerminal(holder);
      const { token, websocket_path } = await mintTerminalToken(holder, allocation.id);
      await unwrap(
        platform.member.DELETE('/api/v1/api-keys/{api_key_id}', {
          params: { path: { api_key_id: api_key.id } },
        }),
      );
      await expect(open.ended).resolves.toMatchObject(noLonger);
      const late = new TestTerminal(platform.baseUrl, websocket_path, token);
      await expect(late.ended).resolves.toMatchObject({ code: 4403 });
    },
    30_000,
  );

  it.skipIf(!existsSync('/usr/bin/bwrap'))(
    'ends with the binding that gave it, also to a service account (needs bubblewrap)',
    async () => {
      const { client, takeAway } = await disposableRole(platform, allocation);
      const open = await openTerminal(client);
      await takeAway();
      await expect(open.ended).resolves.toMatchObject(noLonger);
    },
    30_000,
  );

  it.skipIf(!existsSync('/usr/bin/bwrap'))(
    'ends, with the event stream, when an operator ends the sign-ins of the person (needs bubblewrap)',
    async () => {
      const { secret, cookie } = await openSignIn(platform, 'member@acme.test');
      expect(secret).not.toBe('');
      const inBrowser: typeof fetch = (input, init) => {
        const request = new Request(input, init);
        request.headers.set('cookie', cookie);
        return fetch(request);
      };
      const { baseUrl } = platform;
      const reader = createGpuaasClient({ baseUrl, fetch: inBrowser, retry: { attempts: 1 } });
      const me = await unwrap(reader.GET('/api/v1/me'));
      const client = createGpuaasClient({ baseUrl, fetch: inBrowser, csrfToken: () => me.csrf_token });
      const open = await openTerminal(client);
      const stop = new AbortController();
      const opened = Promise.withResolvers<void>();
      const stream = (async () => {
        const options = { baseUrl, fetch: inBrowser, signal: stop.signal, onStatus: () => opened.resolve() };
        for await (const event of subscribeEvents(options)) void event;
      })();
      stream.catch(() => undefined);
      await opened.promise;
      const params = { path: { user_id: me.user!.id } };
      const body = { reason: 'a lost laptop' };
      const end = (by: GpuaasClient) =>
        by.POST('/api/v1/admin/people/{user_id}/end-sign-ins', { params, body });
      expect((await end(platform.admin)).response.status).toBe(403);
      expect(await unwrap(end(platform.operator))).toEqual({ ended: 1 });
      await expect(open.ended).resolves.toMatchObject(noLonger);
      await expect(stream).rejects.toMatchObject({ status: 401 });
      expect((await reader.GET('/api/v1/me')).response.status).toBe(401);
      // A key is no sign-in.
      expect((await platform.member.GET('/api/v1/me')).response.status).toBe(200);
    },
    60_000,
  );

  async function openTerminal(client: GpuaasClient): Promise<TestTerminal> {
    const { token, websocket_path } = await mintTerminalToken(client, allocation.id);
    const terminal = new TestTerminal(platform.baseUrl, websocket_path, token);
    await terminal.ready;
    return terminal;
  }
});

describe('a recorded terminal', () => {
  it.skipIf(!existsSync('/usr/bin/bwrap'))(
    'says so, and can be played by who may (needs bubblewrap)',
    async () => {
      const path = { organization_id: allocation.organization_id, policy_name: 'terminal.recorded' };
      const record = (value: boolean) =>
        unwrap(
          platform.admin.PUT('/api/v1/organizations/{organization_id}/policies/{policy_name}', {
            params: { path },
            body: { value },
          }),
        );
      await record(true);
      const opened = async () => {
        const { token, websocket_path } = await mintTerminalToken(platform.member, allocation.id);
        const terminal = new TestTerminal(platform.baseUrl, websocket_path, token);
        await terminal.ready;
        return terminal;
      };
      // Policies reach every process within seconds.
      const terminal = await vi.waitUntil(
        async () => {
          const one = await opened();
          await new Promise((resolve) => setTimeout(resolve, 200));
          if (one.output.includes('This terminal is recorded')) return one;
          one.close();
          return null;
        },
        { timeout: 30_000 },
      );
      terminal.type('echo "seen $((40+2))"\n');
      await expect.poll(() => terminal.output).toContain('seen 42');
      terminal.type('exit\n');
      await terminal.ended;

      const params = { path: { allocation_id: allocation.id } };
      const list = (client: GpuaasClient) =>
        unwrap(client.GET('/api/v1/allocations/{allocation_id}/terminal-recordings', { params }));
      await expect.poll(async () => (await list(platform.admin)).items[0]?.ended_at).toBeTruthy();
      const [recording] = (await list(platform.admin)).items;
      expect(recording).toMatchObject({ allocation_id: allocation.id, truncated: false });
      const cast = await unwrap(
        platform.admin.GET('/api/v1/allocations/{allocation_id}/terminal-recordings/{recording_id}', {
          params: { path: { ...params.path, recording_id: recording!.id } },
          parseAs: 'text',
        }),
      );
      const [header, ...shown] = cast
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown[]);
      expect(header).toMatchObject({ version: 2, width: 80, height: 24 });
      expect(shown.map(([, , text]) => text).join('')).toContain('seen 42');
      await expect(list(platform.member)).rejects.toMatchObject({ code: 'forbidden' });
      await expect(list(platform.stranger)).rejects.toMatchObject({ code: 'not_found' });
      await record(false);
    },
  );
});

describe('a terminal that is left while it opens', () => {
  it.skipIf(!existsSync('/usr/bin/bwrap'))('leaves no shell behind (needs bubblewrap)', async () => {
    const shells = () => shellsOf(allocation.id);
    const seen = await mintTerminalToken(platform.member, allocation.id);
    const kept = new TestTerminal(platform.baseUrl, seen.websocket_path, seen.token);
    await kept.ready;
    await expect.poll(shells, { timeout: 10_000 }).toHaveLength(1);
    kept.terminate();
    await expect.poll(shells).toEqual([]);
    for (const delay of [10, 30, 60, 120]) {
      const { token, websocket_path } = await mintTerminalToken(platform.member, allocation.id);
      const terminal = new TestTerminal(platform.baseUrl, websocket_path, token);
      await terminal.opened;
      await new Promise((resolve) => setTimeout(resolve, delay));
      terminal.terminate();
    }
    // Long enough for each of them to have got its shell.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await expect.poll(shells).toEqual([]);
  });
});

describe('what the host reports', () => {
  it('is seen as it is: a machine that died is absent', async () => {
    const machine = await launch(platform.member, platform.projectId, 1);
    await waitForState(platform.member, machine.id, 'active');
    process.kill((await guestOf(machine.id)).pid, 'SIGKILL');
    await expect
      .poll(async () => (await getAllocation(platform.member, machine.id)).states.observed, {
        timeout: 60_000,
      })
      .toBe('absent');
    await release(platform.member, machine.id);
    await waitForState(platform.member, machine.id, 'released');
  });
});

describe('live events', () => {
  it('reach their tenant only and resume without a gap', async () => {
    const stop = new AbortController();
    const seen: EventEnvelope[] = [];
    const foreign: EventEnvelope[] = [];
    const member = collect(platform.keys.member, seen, stop.signal);
    const stranger = collect(platform.keys.other, foreign, stop.signal);
    await Promise.all([member.open, stranger.open]);
    const launched = await launch(platform.member, platform.projectId, 1);
    await waitForState(platform.member, launched.id, 'active');
    await expect
      .poll(() => seen.filter(isAbout(launched.id)).map((event) => event.event_type))
      .toContain('allocation.active');
    expect(foreign.filter(isAbout(launched.id))).toEqual([]);
    const timeline = await unwrap(
      platform.member.GET('/api/v1/allocations/{allocation_id}/timeline', {
        params: { path: { allocation_id: launched.id }, query: { limit: 200 } },
      }),
    );
    expect(seen.filter(isAbout(launched.id)).map((event) => event.event_id)).toEqual(
      timeline.items.map((entry) => entry.event_id),
    );
    stop.abort();
    await release(platform.member, launched.id);
    await waitForState(platform.member, launched.id, 'released');
  });

  it('end when the key is revoked', async () => {
    const { db } = platform.services;
    const stop = new AbortController();
    const stream = collect(platform.keys.admin, [], stop.signal);
    await stream.open;
    await db
      .updateTable('api_keys')
      .set({ revoked_at: new Date() })
      .where('name', '=', 'demo')
      .where('user_id', 'in', (q) => q.selectFrom('users').select('id').where('subject', '=', 'admin'))
      .execute();
    await expect(stream.done).rejects.toMatchObject({ status: 401 });
    const answer = await fetch(`${platform.baseUrl}/api/v1/me`, {
      headers: { authorization: `Bearer ${platform.keys.admin}` },
    });
    expect(answer.status).toBe(401);
  });
});

describe('audit', () => {
  it('has a row for each mutation and each denied attempt', async () => {
    const denied = await unwrap(
      platform.stranger.POST('/api/v1/allocations/{allocation_id}/release', {
        params: { path: { allocation_id: allocation.id } },
      }),
    ).catch((error: unknown) => error);
    expect(denied).toMatchObject({ code: 'not_found' });
    expect(await getAllocation(platform.member, allocation.id)).toMatchObject({
      states: { desired: 'active' },
    });
    const rows = await platform.services.db
      .selectFrom('audit_logs')
      .select(['action', 'result', 'target_id'])
      .where('target_id', '=', allocation.id)
      .execute();
    expect(rows).toEqual(
      expect.arrayContaining([
        { action: 'allocation.create', result: 'succeeded', target_id: allocation.id },
        { action: 'allocation.terminal_token', result: 'succeeded', target_id: allocation.id },
        { action: 'allocation.terminal_token', result: 'denied', target_id: allocation.id },
        { action: 'allocation.terminal_open', result: 'succeeded', target_id: allocation.id },
        { action: 'allocation.release', result: 'denied', target_id: allocation.id },
      ]),
    );
    await expect(platform.services.db.deleteFrom('audit_logs').execute()).rejects.toThrow(/append-only/);
  });
});

interface RunFile {
  pid: number;
  init_pid: number;
  hypervisor_pid: number;
}

async function guestOf(allocationId: string): Promise<RunFile> {
  const { hostname } = platform.fleet.nodes[0]!;
  const file = join(platform.dataDir, 'hosts', hostname, 'vms', allocationId, 'run.json');
  return JSON.parse(await readFile(file, 'utf8')) as RunFile;
}

/** Sessions that the hypervisor started in a guest, and programs that they left there. */
async function shellsOf(allocationId: string): Promise<string[]> {
  const { hypervisor_pid, init_pid } = await guestOf(allocationId);
  const sessions = (await childrenOf(hypervisor_pid)).filter((line) =>
    line.includes(`gpuaas-session ${allocationId}`),
  );
  const left = (await childrenOf(init_pid)).filter((line) => !line.includes('gpuaas-guest'));
  return [...sessions, ...left];
}

async function childrenOf(pid: number): Promise<string[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean);
  return await Promise.all(
    children.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')),
  );
}

function isAbout(allocationId: string): (event: EventEnvelope) => boolean {
  return (event) => event.payload['allocation_id'] === allocationId;
}

function collect(apiKey: string, into: EventEnvelope[], signal: AbortSignal) {
  let opened: () => void = () => undefined;
  const open = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const done = (async () => {
    const options = { baseUrl: platform.baseUrl, apiKey, signal, onStatus: () => opened() };
    for await (const event of subscribeEvents(options)) into.push(event);
  })();
  done.catch(() => undefined);
  return { open, done };
}
