import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '@redis/client';
import type { MachineAccess } from '@gpuaas/control-plane/domains/access/machine-door';
import { postgresTokens } from '@gpuaas/control-plane/domains/access/tokens/postgres-tokens';
import { redisTokens } from '@gpuaas/control-plane/domains/access/tokens/redis-tokens';
import type { TerminalTokens } from '@gpuaas/control-plane/domains/access/tokens/terminal-tokens';
import { randomSecret } from '@gpuaas/control-plane/platform/auth/secrets';
import { manualClock } from '@gpuaas/control-plane/platform/clock';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { seedActiveAllocation } from '../../contract/known/known-allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import {
  redisServerInstalled,
  startRedisServer,
  type RedisServer,
} from '../../harness/servers/redis-server.ts';

const RACERS = 50;
let api: TestApi;
let access: MachineAccess;
beforeAll(async () => {
  api = await createTestApi();
  const credential = { kind: 'api_key' as const, id: newId(), scopes: null };
  const allocationId = await seedActiveAllocation(api);
  access = { allocationId, actorId: newId(), credential, correlationId: newId() };
});
afterAll(() => api?.stop());

async function keep(tokens: TerminalTokens, ttlSeconds: number): Promise<string> {
  const token = randomSecret();
  await api.services.db.transaction().execute((tx) => tokens.keep(tx, token, access, ttlSeconds));
  return token;
}

async function expectOneWinner(tokens: TerminalTokens): Promise<void> {
  const token = await keep(tokens, 60);
  const won = await Promise.all(Array.from({ length: RACERS }, () => tokens.consume(token)));
  expect(won.filter((found) => found !== null)).toEqual([access]);
  expect(await tokens.consume(token)).toBeNull();
  expect(await tokens.consume(randomSecret())).toBeNull();
}

describe('terminal tokens in PostgreSQL', () => {
  it('are given to one of fifty concurrent callers, and to none once expired', async () => {
    const clock = manualClock(new Date());
    const tokens = postgresTokens({ ...servicesAsRole(api.services, 'gpuaas_gateway'), clock });
    await expectOneWinner(tokens);
    const late = await keep(tokens, 60);
    clock.advance(60_000);
    expect(await tokens.consume(late)).toBeNull();
  });
});

const reason = redisServerInstalled ? '' : ' (needs redis-server: apt-get install redis-server)';

describe.skipIf(!redisServerInstalled)(`terminal tokens in Redis${reason}`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(() => redis?.stop());

  it('are given to one of fifty that race, over two gateways, and Redis forgets them in time', async () => {
    const gateways = [redisTokens(redis.url, api.services.log), redisTokens(redis.url, api.services.log)];
    for (const gateway of gateways)
      await expect
        .poll(() =>
          gateway.check().then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
    let turn = 0;
    await expectOneWinner({
      keep: gateways[0]!.keep,
      consume: (token) => gateways[turn++ % 2]!.consume(token),
    });
    const token = await keep(gateways[0]!, 300);
    const client = await createClient({ url: redis.url }).connect();
    expect(await client.ttl(`terminal_token:${token}`)).toBeGreaterThan(290);
    await client.pExpire(`terminal_token:${token}`, 1);
    await expect.poll(() => client.exists(`terminal_token:${token}`)).toBe(0);
    expect(await gateways[1]!.consume(token)).toBeNull();
    client.destroy();
    for (const gateway of gateways) gateway.close();
  });

  it('are refused, not waited for, while Redis is gone', async () => {
    const gone = await startRedisServer();
    const tokens = redisTokens(gone.url, api.services.log);
    await expect
      .poll(() =>
        tokens.check().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await gone.stop();
    await expect(keep(tokens, 60)).rejects.toMatchObject({ code: 'terminal_unavailable' });
    tokens.close();
  });
});
