import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../harness/api.ts';

let api: TestApi;
const lines: Record<string, unknown>[] = [];
beforeAll(async () => {
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  api = await createTestApi({ log: createLogger('test', { write }) });
});
afterAll(() => api?.stop());

describe('the request log', () => {
  it('has one line per request: route and caller, no URL, level by status', async () => {
    const correlation = '0190a0c4-0000-7000-8000-00000000beef';
    const headers = {
      authorization: `Bearer ${api.people['member']!.apiKey}`,
      'x-correlation-id': correlation,
    };
    const path = '/api/v1/allocations/0190a0c4-0000-7000-8000-000000000001';
    const answers = [
      await api.server.inject({ url: '/api/v1/me', headers }),
      await api.server.inject({ url: `${path}?secret=hidden`, headers }),
      await api.server.inject({ url: '/api/v1/me?who=hidden' }),
      await api.server.inject({ url: '/healthz' }),
    ];
    expect(answers[0]!.headers['x-correlation-id']).toBe(correlation);
    const requests = lines.filter(({ msg }) => msg === 'request');
    expect(requests).toMatchObject([
      {
        level: 'info',
        method: 'GET',
        route: '/api/v1/me',
        status: 200,
        correlation_id: correlation,
        operation: 'getMe',
      },
      { level: 'info', method: 'GET', route: '/api/v1/allocations/:allocation_id', status: 400 },
      { level: 'warn', method: 'GET', route: '/api/v1/me', status: 401, caller_id: null },
    ]);
    expect(requests[0]!['caller_id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(requests[0]!['duration_ms']).toBeTypeOf('number');
    expect(JSON.stringify(lines)).not.toContain('hidden');
  });
});
