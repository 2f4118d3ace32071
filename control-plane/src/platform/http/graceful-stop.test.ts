import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { GracefulStop } from './graceful-stop.ts';

describe('a stop', () => {
  it('waits for requests in flight, but not indefinitely', async () => {
    const server = Fastify({ forceCloseConnections: 'idle' });
    const graceful = new GracefulStop(server, 300);
    let arrived = 0;
    server.addHook('onRequest', async () => void (arrived += 1));
    server.get('/never', () => new Promise(() => undefined));
    server.get('/poll', async () => {
      await new Promise((resolve) => graceful.stopping.addEventListener('abort', resolve, { once: true }));
      return 'nothing new';
    });
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    const hanging = fetch(`${url}/never`);
    const poll = fetch(`${url}/poll`);
    const outcome = expect(hanging).rejects.toThrow('fetch failed');
    await expect.poll(() => arrived).toBe(2);
    const began = performance.now();
    const stopped = graceful.stop();
    expect(await (await poll).text()).toBe('nothing new');
    await stopped;
    await outcome;
    expect(performance.now() - began).toBeGreaterThanOrEqual(290);
  });
});
