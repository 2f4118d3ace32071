import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { newId } from '../ids.ts';
import { recordSpan, startTracing, traced } from './tracing.ts';

const received: string[] = [];
const collector = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
  request.on('end', () => {
    received.push(`${request.url} ${body}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
afterAll(() => void collector.close());

describe('tracing', () => {
  it('does nothing without an endpoint', async () => {
    const stop = await startTracing('test', {});
    expect(
      await traced('idle', { correlationId: newId(), attributes: () => expect.fail('read') }, async () => 7),
    ).toBe(7);
    await stop();
  });

  it('exports spans under the correlation id, without secrets', async () => {
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const stop = await startTracing('test', { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    const correlationId = newId();
    const attributes = () => ({
      password: 'canary-1',
      note: `gpk_${'a'.repeat(43)}_00000000`,
      kept: 'fine',
      none: null,
    });
    recordSpan('node task', {
      correlationId,
      startedAt: new Date(1000),
      endedAt: new Date(2000),
      failed: false,
      attributes,
    });
    await expect(
      traced('step', { correlationId, attributes }, () => Promise.reject(new Error('no'))),
    ).rejects.toThrow('no');
    await stop();
    const all = received.join('\n');
    expect(all).toContain('/v1/traces');
    expect(all).toContain(correlationId.replaceAll('-', ''));
    expect(all).toContain('node task');
    expect(all).toContain('fine');
    expect(all).not.toMatch(/canary-1|gpk_/);
  });
});
