import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { buildApp, type AppName } from '@gpuaas/lab/apps/build/build-app';
import { provisionSliceVm } from '@gpuaas/node-agent/tasks/slice-vm-provision';
import { HOSTNAME, openTestHost, type TestHost } from '@gpuaas/node-agent/testing/simulated-host';
import { provisionParams } from '@gpuaas/node-agent/testing/slots';
import { createKeyPair, sshExec, sshLogin } from '@gpuaas/node-agent/testing/ssh';
import type { Client } from 'ssh2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

const POLL = { timeout: 60_000, interval: 200 };
const keys = createKeyPair();
const slice = provisionParams(HOSTNAME, [0], [keys.public]);
let machine: TestHost;
let client: Client;

const dial = (port: number): Promise<Duplex> => machine.host.openGuestPort(slice.allocation_id, port);

/** Copies the payload into the machine and starts it with the Node that is there. */
async function startInGuest(app: AppName, env: string): Promise<void> {
  await upload(app);
  await sshExec(
    client,
    `(cd ${app} && ${env} exec node payload) > ${app}/log 2>&1 < /dev/null & echo started`,
  );
}

async function upload(app: AppName): Promise<void> {
  const { bytes, digest } = await buildApp(app);
  const { stdout } = await sshExec(
    client,
    `mkdir -p ${app} && base64 -d > ${app}/payload && sha256sum < ${app}/payload`,
    {
      stdin: bytes.toString('base64'),
    },
  );
  expect(`sha256:${stdout.slice(0, 64)}`).toBe(digest);
}

async function ask(
  port: number,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<string> {
  const stream = await dial(port);
  const agent = new Agent();
  agent.createConnection = () => stream;
  const sent = request({ agent, path, method: body ? 'POST' : 'GET', headers: { host: 'app', ...headers } });
  sent.end(body ? JSON.stringify(body) : undefined);
  const [answer] = await once(sent, 'response');
  return await text(answer);
}

const answers = (port: number, path: string) => ask(port, path).catch(() => '');

describe.skipIf(!existsSync('/usr/bin/bwrap'))('demo apps in a simulated machine (needs bubblewrap)', () => {
  beforeAll(async () => {
    machine = await openTestHost();
    await provisionSliceVm(slice, machine, machine.context);
    client = await sshLogin(await dial(22), keys.private);
  });
  afterAll(async () => {
    client?.end();
    await machine?.close();
  });

  it('hello-web is reached through its port and sees its viewer', async () => {
    await startInGuest('hello-web', 'PORT=8000');
    await expect.poll(() => answers(8000, '/health'), POLL).toBe('{"status":"ok"}');
    expect(JSON.parse(await ask(8000, '/viewer', undefined, { 'x-gpuaas-user': 'ada' }))).toMatchObject({
      user: 'ada',
    });
  });

  it('tiny-llm completes', async () => {
    await startInGuest('tiny-llm', 'PORT=8001');
    await expect.poll(() => answers(8001, '/health'), POLL).toBe('{"status":"ok"}');
    const body = { model: 'tiny-llm', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 };
    expect(JSON.parse(await ask(8001, '/v1/chat/completions', body))).toMatchObject({
      usage: { completion_tokens: 5 },
    });
  });

  it('notebook runs a cell on the machine, interrupts it, and stops with nothing left', async () => {
    await startInGuest('notebook', 'PORT=8888 PARAM_ENGINE=javascript');
    await expect.poll(() => answers(8888, '/api'), POLL).toContain('version');
    const { id } = JSON.parse(await ask(8888, '/api/kernels', {}));
    const stream = await dial(8888);
    const socket = new WebSocket(`ws://app/api/kernels/${id}/channels`, {
      createConnection: () => stream as never,
    });
    const heard: string[] = [];
    socket.on('message', (data: Buffer) => heard.push(data.toString()));
    await once(socket, 'open');
    const execute = (code: string) => {
      const header = { msg_id: code, msg_type: 'execute_request', session: 's' };
      socket.send(JSON.stringify({ channel: 'shell', header, content: { code } }));
    };
    execute('console.log(`on ${require("node:os").hostname()} in ${process.cwd()}`)');
    await expect.poll(() => heard.join(), POLL).toContain('on train-01 in /home/ubuntu');
    execute('while (true) {}');
    await expect.poll(() => ask(8888, '/api/kernels'), POLL).toContain('"busy"');
    await ask(8888, `/api/kernels/${id}/interrupt`, {});
    await expect.poll(() => heard.join(), POLL).toContain('Interrupted');
    const processes = async () => (await sshExec(client, 'pgrep -c -f "[p]ayload( kernel)?$"')).stdout.trim();
    const before = Number(await processes());
    await sshExec(
      client,
      'kill -TERM $(pgrep -f "[n]ode payload$" | while read p; do [ "$(readlink /proc/$p/cwd)" = "$HOME/notebook" ] && echo $p; done)',
    );
    await expect.poll(processes, POLL).toBe(String(before - 2));
    await expect(dial(8888)).rejects.toThrow(/nothing .* listens/);
  });

  it('word-count ends with its exit code and its result', async () => {
    await upload('word-count');
    const command = 'echo "one two two" > in.txt; PARAM_INPUT=in.txt PARAM_TOP=1 node word-count/payload';
    const { code, stdout } = await sshExec(client, command);
    expect(code).toBe(0);
    expect(stdout).toContain('"top":[["two",2]]');
    expect((await sshExec(client, 'PARAM_INPUT=nothing node word-count/payload')).code).toBe(1);
  });
});
