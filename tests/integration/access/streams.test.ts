import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGpuaasClient, type GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, release, waitForState, type Allocation } from '../../harness/allocations/allocations.ts';
import { mintStreamToken, openStream, type GuestStream } from '../../harness/access/guest-stream.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';
import { disposableRole } from '../../harness/processes/disposable-role.ts';

let platform: TestPlatform;
let allocation: Allocation;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const { id } = await launch(platform.member, platform.projectId, 1);
  allocation = await waitForState(platform.member, id, 'active');
});
afterAll(() => platform?.stop());

async function open(client = platform.member, id = allocation.id): Promise<GuestStream> {
  const { token } = await mintStreamToken(client, id, 22);
  return await openStream(platform.baseUrl, token);
}

async function greeting({ bytes }: GuestStream): Promise<string> {
  const [chunk] = (await once(bytes, 'data')) as [Buffer];
  return chunk.toString('latin1');
}

/** Five seconds are promised; a machine that is busy with other tests takes several times that. */
async function expectCut({ closed }: GuestStream): Promise<void> {
  const since = performance.now();
  await closed;
  expect(performance.now() - since).toBeLessThan(30_000);
}

describe('a stream to a port of the machine', () => {
  it('carries what the machine says, a hundred at a time, and is counted', async () => {
    const { token } = await mintStreamToken(platform.member, allocation.id, 22);
    const streams = await Promise.all(Array.from({ length: 100 }, () => openStream(platform.baseUrl, token)));
    const said = await Promise.all(streams.map(greeting));
    expect(said.filter((text) => text.startsWith('SSH-2.0-'))).toHaveLength(100);
    const metrics = await (await fetch(`${platform.baseUrl}/metrics`)).text();
    expect(metrics).toMatch(/gpuaas_streams_open\{kind="port"\} 100/);
    expect(metrics).toMatch(/gpuaas_tunnels 1/);
    for (const { ws } of streams) ws.close();
    await Promise.all(streams.map(({ closed }) => closed));
    await expect
      .poll(async () => await (await fetch(`${platform.baseUrl}/metrics`)).text())
      .toMatch(/gpuaas_streams_open\{kind="port"\} 0/);
  });

  it('is refused with the reason', async () => {
    const { token } = await mintStreamToken(platform.member, allocation.id, 22);
    await expect(openStream(platform.baseUrl, 'nonsense')).rejects.toThrow('401 unauthenticated');
    await expect(openStream(platform.baseUrl, `${token}x`)).rejects.toThrow('401 unauthenticated');
    await expect(openStream(platform.baseUrl, token, { origin: platform.baseUrl })).rejects.toThrow(
      '403 forbidden',
    );
    const { token: silent } = await mintStreamToken(platform.member, allocation.id, 8888);
    await expect(openStream(platform.baseUrl, silent)).rejects.toThrow('502 guest_unreachable');
    await expect(mintStreamToken(platform.stranger, allocation.id, 22)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is as wide as policy says', async () => {
    const limit = async (value: number) =>
      await unwrap(
        platform.operator.PUT('/api/v1/admin/policies/{policy_name}', {
          params: { path: { policy_name: 'access.max_streams_per_allocation' } },
          body: { value, reason: 'test' },
        }),
      );
    await limit(2);
    const streams = [await open(), await open()];
    await expect(open()).rejects.toThrow('429 too_many_streams');
    streams[0]!.ws.close();
    await expect
      .poll(() =>
        open().then(
          (stream) => streams.push(stream),
          () => 0,
        ),
      )
      .toBeGreaterThan(2);
    for (const { ws } of streams) ws.close();
    await limit(200);
  });
});

it('the serial console log is readable for callers who may connect, and each reading is audited', async () => {
  const params = { path: { allocation_id: allocation.id } };
  const read = (client: GpuaasClient) =>
    unwrap(client.GET('/api/v1/allocations/{allocation_id}/console-log', { params, parseAs: 'text' }));
  expect(await read(platform.member)).toContain('SIMULATED machine');
  await expect(read(platform.stranger)).rejects.toMatchObject({ code: 'not_found' });
  const { items } = await unwrap(
    platform.admin.GET('/api/v1/organizations/{organization_id}/audit-logs', {
      params: {
        path: { organization_id: allocation.organization_id },
        query: { action: 'allocation.console_log_read' },
      },
    }),
  );
  expect(items).toMatchObject([
    { target_type: 'allocation', target_id: allocation.id, result: 'succeeded', actor_kind: 'user' },
  ]);
});

describe('an open stream is cut', () => {
  it('when the credential it was opened with is revoked', async () => {
    const { api_key, secret } = await unwrap(
      platform.member.POST('/api/v1/api-keys', {
        body: { name: 'stream', organization_id: allocation.organization_id },
      }),
    );
    const holder = createGpuaasClient({ baseUrl: platform.baseUrl, apiKey: secret! });
    const { token } = await mintStreamToken(holder, allocation.id, 22);
    const stream = await openStream(platform.baseUrl, token);
    const other = await open();
    await unwrap(
      platform.member.DELETE('/api/v1/api-keys/{api_key_id}', {
        params: { path: { api_key_id: api_key.id } },
      }),
    );
    await expectCut(stream);
    await expect(openStream(platform.baseUrl, token)).rejects.toThrow('403 forbidden');
    // Other connections stay open.
    await pause(100);
    expect(other.ws.readyState).toBe(other.ws.OPEN);
    other.ws.close();
  });

  it('when the role behind it is taken away', async () => {
    const { client, takeAway } = await disposableRole(platform, allocation);
    const stream = await open(client);
    await takeAway();
    await expectCut(stream);
  });

  it('when the machine is released', async () => {
    const machine = await launch(platform.member, platform.projectId, 1);
    await waitForState(platform.member, machine.id, 'active');
    const { token } = await mintStreamToken(platform.member, machine.id, 22);
    const stream = await openStream(platform.baseUrl, token);
    await release(platform.member, machine.id);
    await expectCut(stream);
    // During the release, its next event may cut the new attempt before it is answered.
    const refusal = () =>
      openStream(platform.baseUrl, token).then(
        () => 'opened',
        (error: Error) => error.message,
      );
    await expect.poll(refusal).toContain('409 allocation_not_active');
  });

  it('when the agent dies, and the next one goes through the agent that follows', async () => {
    const stream = await open();
    platform.fleet.killAgent(platform.fleet.nodes[0]!.hostname, 'SIGKILL');
    await expectCut(stream);
    await expect.poll(() => open().then(greeting, () => ''), { timeout: 60_000 }).toMatch(/^SSH-2\.0-/);
  });
});
