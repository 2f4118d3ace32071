import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startApp, type AppProcess } from '../../harness/demo-apps/app-process.ts';

let app: AppProcess;

beforeAll(async () => {
  app = await startApp('hello-web');
});
afterAll(async () => await app?.stop());

describe('hello-web', () => {
  it('shows who the gateway says the viewer is', async () => {
    const headers = {
      'x-gpuaas-user': 'ada@example.org',
      'x-forwarded-host': 'a.localhost',
      cookie: 'secret=1',
    };
    const viewer = await (await fetch(`${app.url}/viewer`, { headers })).json();
    expect(viewer).toEqual({
      user: 'ada@example.org',
      host: `127.0.0.1:${app.port}`,
      headers: { 'x-gpuaas-user': 'ada@example.org', 'x-forwarded-host': 'a.localhost' },
    });
    expect(await (await fetch(`${app.url}/viewer`)).json()).toMatchObject({ user: null });
  });

  it('serves its page at the root and below a path, with a strict policy', async () => {
    for (const base of ['/', '/serve/label/']) {
      const page = await fetch(`${app.url}${base}`);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(await page.text()).toContain('<title>Hello</title>');
      expect((await fetch(`${app.url}${base}main.js`)).headers.get('content-type')).toContain('javascript');
      expect(await (await fetch(`${app.url}${base}health`)).json()).toEqual({ status: 'ok' });
    }
    expect((await fetch(`${app.url}/missing`)).status).toBe(404);
    expect((await fetch(`${app.url}/`, { method: 'POST' })).status).toBe(405);
  });

  it('streams events as they happen', async () => {
    const stream = await fetch(`${app.url}/events`);
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    const { value } = await reader.read();
    expect(JSON.parse(value!.replace('data: ', ''))).toMatchObject({ watching: 1 });
    await reader.cancel();
  });

  it('echoes over a WebSocket of the same origin', async () => {
    const address = `${app.url.replace('http', 'ws')}/socket`;
    const socket = new WebSocket(address, { origin: app.url, headers: { 'x-gpuaas-user': 'ada' } });
    await once(socket, 'open');
    socket.send('good morning');
    expect(String((await once(socket, 'message'))[0])).toBe('ada: good morning');
    socket.send(Buffer.from([1, 2]));
    expect(await once(socket, 'message')).toEqual([Buffer.from([1, 2]), true]);
    socket.send('x'.repeat(70_000));
    expect((await once(socket, 'close'))[0]).toBe(1009);
    const foreign = new WebSocket(address, { origin: 'http://evil.example' });
    foreign.on('error', () => undefined);
    expect((await once(foreign, 'unexpected-response'))[1].statusCode).toBe(403);
  });

  it('answers odd requests with 4xx, and cuts off headers that never end', async () => {
    const send = async (bytes: string): Promise<string> => {
      const socket = connect(app.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(bytes);
      const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      socket.destroy();
      return String(answer);
    };
    expect(await send('GET http://other/ HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 400/);
    expect(await send('GARBAGE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400/);
    expect(await send(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431/,
    );
    // Ten seconds for the headers, looked at every second.
    expect(await send('GET / HTTP/1.1\r\nHost: a\r\n')).toMatch(/^HTTP\/1\.1 408/);
  });

  it('stops on SIGTERM with streams and sockets open, and exits with 0', async () => {
    const own = await startApp('hello-web');
    const socket = new WebSocket(`${own.url.replace('http', 'ws')}/socket`);
    await once(socket, 'open');
    const stream = await fetch(`${own.url}/events`);
    const closed = once(socket, 'close');
    const exited = once(own.process, 'exit');
    own.process.kill('SIGTERM');
    await stream.text();
    expect((await closed)[0]).toBe(1001);
    expect((await exited)[0]).toBe(0);
    await own.stop();
  });
});
