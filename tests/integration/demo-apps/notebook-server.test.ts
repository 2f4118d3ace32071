import { once } from 'node:events';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  ContentsManager,
  Drive,
  KernelSpecManager,
  ServerConnection,
  SessionManager,
  KernelManager,
} from '@jupyterlab/services';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startApp, type AppProcess } from '../../harness/demo-apps/app-process.ts';

let app: AppProcess;
let serverSettings: ServerConnection.ISettings;

beforeAll(async () => {
  app = await startApp('notebook', { PARAM_ENGINE: 'javascript', PARAM_FOLDER: 'files' });
  serverSettings = ServerConnection.makeSettings({
    baseUrl: `${app.url}/`,
    wsUrl: `${app.url.replace('http', 'ws')}/`,
  });
});
afterAll(async () => await app?.stop());

const file = (name: string): string => join(app.home, 'files', name);

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${app.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const content = await answer.text();
  return {
    status: answer.status,
    body: content === '' ? null : JSON.parse(content),
    headers: answer.headers,
  };
}

/** `fetch` would tidy the path. */
async function askRaw(path: string): Promise<string> {
  const socket = connect(app.port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  return await text(socket);
}

describe('the contents API, with the client of JupyterLab', () => {
  const manager = (): ContentsManager =>
    new ContentsManager({ defaultDrive: new Drive({ serverSettings }), serverSettings });

  it('creates, saves, reads, renames, copies and deletes notebooks', async () => {
    const files = manager();
    const made = await files.newUntitled({ type: 'notebook' });
    expect(made).toMatchObject({ type: 'notebook', path: 'Untitled.ipynb', writable: true });
    const cells = [
      { cell_type: 'code', source: '1', metadata: {}, outputs: [], execution_count: null, id: 'a' },
    ];
    const content = { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 };
    await files.save(made.path, { type: 'notebook', format: 'json', content });
    expect((await files.get(made.path)).content).toEqual(content);
    expect(JSON.parse(await readFile(file('Untitled.ipynb'), 'utf8'))).toEqual(content);
    expect((await files.newUntitled({ type: 'notebook' })).path).toBe('Untitled1.ipynb');
    const renamed = await files.rename(made.path, 'my work.ipynb');
    expect(renamed.path).toBe('my work.ipynb');
    expect((await files.copy('my work.ipynb', '')).path).toBe('my work-Copy.ipynb');
    await expect(files.rename('my work.ipynb', 'Untitled1.ipynb')).rejects.toThrow(/exists/);
    const checkpoint = await files.createCheckpoint('my work.ipynb');
    await files.save('my work.ipynb', {
      type: 'notebook',
      format: 'json',
      content: { ...content, cells: [] },
    });
    await files.restoreCheckpoint('my work.ipynb', checkpoint.id);
    expect((await files.get('my work.ipynb')).content).toEqual(content);
    await files.delete('my work.ipynb');
    await expect(files.get('my work.ipynb')).rejects.toThrow();
    const { content: left } = await files.get('');
    expect(left.map(({ name }: { name: string }) => name)).toEqual(['Untitled1.ipynb', 'my work-Copy.ipynb']);
  });

  it('handles folders, text and binary files', async () => {
    const files = manager();
    await files.save('data', { type: 'directory' });
    await files.save('data/ümlaut & co.txt', { type: 'file', format: 'text', content: 'grün' });
    expect(await files.get('data/ümlaut & co.txt')).toMatchObject({ format: 'text', content: 'grün' });
    await files.save('data/bytes.bin', { type: 'file', format: 'base64', content: '//4AAQ==' });
    expect(await files.get('data/bytes.bin')).toMatchObject({ format: 'base64', content: '//4AAQ==' });
    await expect(files.delete('data')).rejects.toThrow(/not empty/);
    await expect(files.save('missing/x.txt', { type: 'file', content: '' })).rejects.toThrow();
  });

  it('lists kernel specifications and sessions', async () => {
    const specs = new KernelSpecManager({ serverSettings });
    await specs.ready;
    expect(specs.specs?.default).toBe('javascript');
    specs.dispose();
    const kernelManager = new KernelManager({ serverSettings });
    const sessions = new SessionManager({ kernelManager, serverSettings });
    const session = await sessions.startNew({
      path: 'a.ipynb',
      name: 'a',
      type: 'notebook',
      kernel: { name: 'javascript' },
    });
    expect((await session.kernel?.info)?.status).toBe('ok');
    expect((await sessions.findByPath('a.ipynb'))?.id).toBe(session.id);
    const before = session.kernel?.id;
    await session.changeKernel({ name: 'javascript' });
    expect(session.kernel?.id).not.toBe(before);
    expect((await ask('GET', '/api/kernels')).body).toHaveLength(1);
    await session.setPath('b.ipynb');
    expect((await ask('GET', '/api/sessions')).body).toMatchObject([{ path: 'b.ipynb' }]);
    await session.shutdown();
    expect((await ask('GET', '/api/kernels')).body).toEqual([]);
    sessions.dispose();
    kernelManager.dispose();
  });
});

describe('the notebook server', () => {
  it('lets no path out of its folder', async () => {
    await writeFile(join(app.home, 'secret.txt'), 'secret');
    await mkdir(file('inside'), { recursive: true });
    await symlink(app.home, file('link'));
    await symlink(join(app.home, 'secret.txt'), file('link.txt'));
    await writeFile(file('.hidden'), 'secret');
    const paths = [
      '../secret.txt',
      '..%2fsecret.txt',
      '%2e%2e/secret.txt',
      '%2e%2e%2fsecret.txt',
      'inside/../../secret.txt',
      'inside/..%2f..%2fsecret.txt',
      '..%5csecret.txt',
      'link/secret.txt',
      'link.txt',
      '.hidden',
      '%00',
      'x'.repeat(2000),
    ];
    for (const path of paths) {
      const answer = await askRaw(`/api/contents/${path}`);
      expect(answer, path).toMatch(/^HTTP\/1\.1 404/);
      expect(answer).not.toContain('"content":"secret"');
    }
    expect(await askRaw('/api/contents/%zz')).toMatch(/^HTTP\/1\.1 400/);
    expect((await ask('PUT', '/api/contents/link/new.txt', { type: 'file', content: 'x' })).status).toBe(404);
    expect((await ask('PATCH', '/api/contents/inside', { path: '../out' })).status).toBe(404);
    expect((await ask('POST', '/api/contents/inside', { copy_from: '../secret.txt' })).status).toBe(404);
    expect((await ask('DELETE', '/api/contents/')).status).toBe(404);
    expect(await askRaw('/page/index.html')).toMatch(/^HTTP\/1\.1 404/);
  });

  it('refuses bodies that are no JSON, too large or wrong, with a reason', async () => {
    expect(await ask('PUT', '/api/contents/a.txt', '{"type":')).toMatchObject({
      status: 400,
      body: { reason: 'invalid_json', message: 'The body is not valid JSON.' },
    });
    expect((await ask('PUT', '/api/contents/a.txt', '[]')).status).toBe(400);
    expect((await ask('PUT', '/api/contents/a.txt', { type: 'file', content: 5 })).status).toBe(400);
    expect((await ask('PUT', '/api/contents/a.ipynb', { type: 'notebook', content: {} })).status).toBe(400);
    expect((await ask('POST', '/api/kernels', { name: 'python3' })).status).toBe(400);
    expect((await ask('POST', '/api/sessions', { path: 7 })).status).toBe(400);
    expect((await ask('POST', '/api/kernels', `{"name":"${'x'.repeat(70_000)}"}`)).status).toBe(413);
    expect((await ask('GET', '/api/kernels/none')).status).toBe(404);
    expect((await ask('PUT', '/api/kernels')).status).toBe(405);
    expect((await ask('GET', '/api/nothing')).status).toBe(404);
  });

  it('cuts a body off that grows over the limit without saying its length', async () => {
    const socket = connect(app.port, '127.0.0.1');
    socket.write('POST /api/kernels HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
    socket.on('error', () => undefined);
    const answered = once(socket, 'data');
    for (let sent = 0; sent < 8; sent += 1) socket.write(chunk);
    expect(String((await answered)[0])).toMatch(/^HTTP\/1\.1 413/);
    await once(socket, 'close');
  });

  it('refuses requests and sockets of other origins', async () => {
    const foreign = { origin: 'http://evil.example' };
    expect((await ask('POST', '/api/kernels', {}, foreign)).status).toBe(403);
    expect((await ask('POST', '/api/kernels', {}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const { body } = await ask('POST', '/api/kernels', {}, { origin: app.url });
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/api/kernels/${body.id}/channels`, {
      origin: 'http://evil.example',
    });
    const [, refused] = await once(socket, 'unexpected-response');
    expect(refused.statusCode).toBe(403);
    socket.on('error', () => undefined);
    socket.terminate();
    expect((await ask('DELETE', `/api/kernels/${body.id}`)).status).toBe(204);
  });

  it('sends pages that run no foreign script', async () => {
    const page = await fetch(`${app.url}/`);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await page.text()).not.toMatch(/<script>|style=|onclick=|(?:src|href)="\//);
  });

  it('stops kernels and itself on SIGTERM', async () => {
    const own = await startApp('notebook', { PARAM_ENGINE: 'javascript' });
    const started = await (await fetch(`${own.url}/api/kernels`, { method: 'POST' })).json();
    const socket = new WebSocket(`${own.url.replace('http', 'ws')}/api/kernels/${started.id}/channels`);
    await once(socket, 'open');
    const pid = await evaluatePid(socket);
    const closed = once(socket, 'close');
    const exited = once(own.process, 'exit');
    own.process.kill('SIGTERM');
    expect((await exited)[0]).toBe(0);
    expect([1000, 1001]).toContain((await closed)[0]);
    await expect.poll(() => isAlive(pid)).toBe(false);
    await own.stop();
  });

  it('leaves no kernel behind when it is killed', async () => {
    const own = await startApp('notebook', { PARAM_ENGINE: 'javascript' });
    const started = await (await fetch(`${own.url}/api/kernels`, { method: 'POST' })).json();
    const socket = new WebSocket(`${own.url.replace('http', 'ws')}/api/kernels/${started.id}/channels`);
    await once(socket, 'open');
    const pid = await evaluatePid(socket);
    socket.send(JSON.stringify(execute('while (true) {}')));
    await expect
      .poll(async () => (await (await fetch(`${own.url}/api/kernels`)).json())[0].execution_state)
      .toBe('busy');
    own.process.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
    await own.stop();
  });
});

describe('the default WebSocket protocol', () => {
  it('keeps output for the client that left, and not for another', async () => {
    const { body } = await ask('POST', '/api/kernels', {});
    const address = `${app.url.replace('http', 'ws')}/api/kernels/${body.id}/channels`;
    const received = (socket: WebSocket): string[] => {
      const texts: string[] = [];
      socket.on('message', (data: Buffer) => texts.push(data.toString()));
      return texts;
    };
    const first = new WebSocket(`${address}?session_id=one`);
    await once(first, 'open');
    first.send(
      JSON.stringify(
        execute(
          'console.log("early"); await new Promise((done) => setTimeout(done, 3000)); console.log("kept")',
        ),
      ),
    );
    await expect
      .poll(async () => (await ask('GET', `/api/kernels/${body.id}`)).body.execution_state)
      .toBe('busy');
    first.close();
    await once(first, 'close');
    await expect
      .poll(async () => (await ask('GET', `/api/kernels/${body.id}`)).body.execution_state)
      .toBe('idle');
    const again = new WebSocket(`${address}?session_id=one`);
    const heard = received(again);
    await expect.poll(() => heard.join()).toContain('execute_reply');
    expect(heard.join()).toContain('kept');
    again.send(
      JSON.stringify(execute('await new Promise((done) => setTimeout(done, 3000)); console.log("secret")')),
    );
    await expect
      .poll(async () => (await ask('GET', `/api/kernels/${body.id}`)).body.execution_state)
      .toBe('busy');
    again.close();
    await expect
      .poll(async () => (await ask('GET', `/api/kernels/${body.id}`)).body.execution_state)
      .toBe('idle');
    const other = new WebSocket(`${address}?session_id=two`);
    const others = received(other);
    await once(other, 'open');
    other.send(JSON.stringify(execute('console.log("for two")')));
    await expect.poll(() => others.join()).toContain('for two');
    expect(others.join()).not.toContain('secret');
    other.close();
    await ask('DELETE', `/api/kernels/${body.id}`);
  });

  it('closes a socket that sends garbage, and no other', async () => {
    const { body } = await ask('POST', '/api/kernels', {});
    const address = `${app.url.replace('http', 'ws')}/api/kernels/${body.id}/channels`;
    const good = new WebSocket(address);
    await once(good, 'open');
    const garbage: [string | Buffer, string[]][] = [
      ['no json', []],
      ['{}', []],
      ['{"channel":"shell","header":{}}', []],
      [Buffer.from([0, 0, 255, 255]), []],
      [Buffer.from([1, 2]), ['v1.kernel.websocket.jupyter.org']],
      [Buffer.alloc(100, 255), ['v1.kernel.websocket.jupyter.org']],
    ];
    for (const [message, protocols] of garbage) {
      const bad = new WebSocket(address, protocols);
      await once(bad, 'open');
      expect(bad.protocol).toBe(protocols[0] ?? '');
      bad.send(message);
      expect((await once(bad, 'close'))[0]).toBe(1003);
    }
    expect(good.readyState).toBe(WebSocket.OPEN);
    expect(await evaluatePid(good)).toBeGreaterThan(1);
    await ask('DELETE', `/api/kernels/${body.id}`);
  });
});

function execute(code: string): object {
  const header = {
    msg_id: `m${Math.random()}`,
    msg_type: 'execute_request',
    session: 's',
    username: '',
    date: '',
    version: '5.3',
  };
  return { channel: 'shell', header, parent_header: {}, metadata: {}, content: { code, silent: false } };
}

async function evaluatePid(socket: WebSocket): Promise<number> {
  const found = new Promise<number>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const { header, content } = JSON.parse(data.toString());
      if (header.msg_type === 'execute_result') resolve(Number(content.data['text/plain']));
    });
  });
  socket.send(JSON.stringify(execute('process.pid')));
  return await found;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
