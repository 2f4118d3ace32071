import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Client, ClientChannel } from 'ssh2';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { provisionSliceVm } from '../../../tasks/slice-vm-provision.ts';
import { HOSTNAME, openTestHost, type TestHost } from '../../../testing/simulated-host.ts';
import { provisionParams } from '../../../testing/slots.ts';
import { createKeyPair, sshExec, sshLogin } from '../../../testing/ssh.ts';
import type { RunFile } from './run-file.ts';

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
/** Other tests may run the same programs on this machine. */
const MARK = String(process.pid);
const POLL = { timeout: 30_000, interval: 50 };

const keys = createKeyPair();
const own = provisionParams(HOSTNAME, [0, 1], [keys.public]);
const neighbour = provisionParams(HOSTNAME, [2], [keys.public]);
let machine: TestHost;
let client: Client;

const login = async (id: string): Promise<Client> =>
  await sshLogin(await machine.host.openGuestPort(id, 22), keys.private);

/** Starts a program that stays; `node` is that of the guest. */
async function daemon(script: string, id = client): Promise<void> {
  await sshExec(id, `nohup node -e '${script}' > daemon.log 2>&1 < /dev/null & echo started`);
}

async function output(command: string, by = client): Promise<string> {
  return (await sshExec(by, command)).stdout.trim();
}

async function ask(port: number, request = ''): Promise<string> {
  const stream = await machine.host.openGuestPort(own.allocation_id, port);
  stream.end(request);
  return await text(stream);
}

async function runOf(id: string): Promise<RunFile> {
  return JSON.parse(await readFile(join(machine.dir, 'vms', id, 'run.json'), 'utf8')) as RunFile;
}

/** Processes of this machine that the words occur in, as `pid command line`. */
async function processesWith(...words: string[]): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => `${pid} ${await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')}`),
  );
  return lines.filter((line) => words.every((word) => line.includes(word)));
}

async function stateOf(id: string): Promise<string | undefined> {
  return (await machine.host.listVms()).find(({ allocation_id }) => allocation_id === id)?.state;
}

describe.skipIf(!existsSync('/usr/bin/bwrap'))('a guest that stays up (needs bubblewrap)', () => {
  beforeAll(async () => {
    machine = await openTestHost();
    for (const params of [own, neighbour]) await provisionSliceVm(params, machine, machine.context);
    client = await login(own.allocation_id);
  });
  afterAll(async () => {
    client?.end();
    await machine?.close();
  });

  it('keeps a daemon after the session and the connection that started it', async () => {
    const first = await login(own.allocation_id);
    await daemon(
      `require("http").createServer((q, r) => r.end("hello from ${MARK} on " + require("os").hostname())).listen(8000)`,
      first,
    );
    await sshExec(first, 'echo note > /tmp/note');
    first.end();
    const request = 'GET / HTTP/1.0\r\n\r\n';
    await expect
      .poll(async () => await ask(8000, request).catch(() => ''), POLL)
      .toContain(`hello from ${MARK} on train-01`);
    expect(
      await output('cat /tmp/note; pgrep -c -f "[h]ello"; exec 3<>/dev/tcp/127.0.0.1/8000 && echo open'),
    ).toBe('note\n1\nopen');
  });

  it('shows nothing of it to another guest', async () => {
    const other = await login(neighbour.allocation_id);
    expect(await output('ls /tmp; pgrep -f "[h]ello"; exec 3<>/dev/tcp/127.0.0.1/8000', other)).toBe('');
    await expect(machine.host.openGuestPort(neighbour.allocation_id, 8000)).rejects.toThrow(
      /nothing .* listens/,
    );
    other.end();
  });

  it('leaves what a command started when its channel is closed', async () => {
    const channel = await new Promise<ClientChannel>((resolve, reject) => {
      client.exec(`sleep ${MARK}1 & echo here; wait`, (error, stream) =>
        error ? reject(error) : resolve(stream),
      );
    });
    await once(channel, 'data');
    channel.close();
    await once(channel, 'close');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await output(`pgrep -c -f "^sleep ${MARK}1"`)).toBe('1');
  });

  it('ends the program in the foreground of a terminal that is closed, and no daemon', async () => {
    const shell = await new Promise<ClientChannel>((resolve, reject) => {
      client.shell({ term: 'xterm' }, (error, stream) => (error ? reject(error) : resolve(stream)));
    });
    shell.resume();
    shell.write(`setsid sleep ${MARK}2 < /dev/null > /dev/null 2>&1 &\nsleep ${MARK}3\n`);
    await expect.poll(() => output(`pgrep -c -f "^sleep ${MARK}[23]"`), POLL).toBe('2');
    shell.close();
    await expect.poll(() => output(`pgrep -f "^sleep ${MARK}3"`), POLL).toBe('');
    expect(await output(`pgrep -c -f "^sleep ${MARK}2"`)).toBe('1');
    await expect.poll(() => output('pgrep -f "^/bin/bash -l$"'), POLL).toBe('');
  });

  it('keeps a session whose program handles the interrupt key', async () => {
    const program = `node -e 'process.on("SIGINT", () => { console.log("caught"); process.exit(5) }); console.log("ready"); setInterval(() => {}, 1000)'`;
    const channel = await new Promise<ClientChannel>((resolve, reject) => {
      client.exec(program, { pty: true }, (error, stream) => (error ? reject(error) : resolve(stream)));
    });
    let said = '';
    channel.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const exit = once(channel, 'exit');
    await expect.poll(() => said, POLL).toContain('ready');
    channel.write('\x03');
    expect((await exit)[0]).toBe(5);
    expect(said).toContain('caught');
  });

  describe('its ports', () => {
    it('lose nothing of a server that speaks first', async () => {
      await daemon(
        'require("net").createServer({ allowHalfOpen: true }, (c) => { let n = 0; c.write("banner\\n"); c.on("data", (d) => (n += d.length)); c.on("end", () => c.end(String(n))) }).listen(8001, "127.0.0.1")',
      );
      await expect.poll(async () => await ask(8001).catch(() => ''), POLL).toBe('banner\n0');
      expect(await ask(8001, 'x'.repeat(3_000_000))).toBe('banner\n3000000');
    });

    it('take 500 connections together, through one process that ends when it is idle', async () => {
      const answers = Array.from({ length: 500 }, async (_, index) => await ask(8001, 'y'.repeat(index)));
      const got = await Promise.all(answers);
      expect(got.filter((answer, index) => answer === `banner\n${index}`)).toHaveLength(500);
      const relays = () => processesWith('relay-main', own.allocation_id);
      expect(await relays()).toHaveLength(1);
      await expect.poll(relays, POLL).toEqual([]);
    });

    it('are reached over SSH as well', async () => {
      const channel = await new Promise<ClientChannel>((resolve, reject) => {
        client.forwardOut('127.0.0.1', 1, 'localhost', 8001, (error, stream) =>
          error ? reject(error) : resolve(stream),
        );
      });
      channel.end('abc');
      expect(await text(channel)).toBe('banner\n3');
      for (const host of ['example.com', '192.0.2.1'])
        await expect(
          new Promise((resolve, reject) => {
            client.forwardOut('127.0.0.1', 1, host, 80, (error) => (error ? reject(error) : resolve('open')));
          }),
        ).rejects.toThrow();
    });

    it('can lead out over SSH, from one loopback address of the guest, until the connection ends', async () => {
      const outside = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
      await once(outside, 'listening');
      const carrier = await login(own.allocation_id);
      carrier.on('tcp connection', (_details, accept) => {
        const channel = accept();
        channel.write('outside: ');
        channel.pipe(channel);
      });
      const listen = (port: number): Promise<number> =>
        new Promise((resolve, reject) => {
          carrier.forwardIn('127.0.0.2', port, (error, bound) =>
            error ? reject(error) : resolve(bound || port),
          );
        });
      expect(await listen(9001)).toBe(9001);
      expect(await listen(0)).toBeGreaterThan(1023);
      await expect(listen(9001)).rejects.toThrow();
      const reach = 'exec 3<>/dev/tcp/127.0.0.2/9001 && echo hello >&3 && head -n 1 <&3';
      expect(await output(reach)).toBe('outside: hello');
      const many = `for i in $(seq 50); do (${reach}) & done; wait`;
      expect((await output(many)).split('\n')).toHaveLength(50);
      await expect(
        new Promise((resolve, reject) => {
          carrier.unforwardIn('127.0.0.2', 9002, (error) => (error ? reject(error) : resolve('closed')));
        }),
      ).rejects.toThrow();
      carrier.end();
      await expect.poll(() => output(`(${reach}) 2>/dev/null || echo refused`), POLL).toBe('refused');
      expect((outside.address() as AddressInfo).port).toBeGreaterThan(0);
      outside.close();
    });
  });

  describe('its GPUs', () => {
    const query = 'nvidia-smi --query-gpu=index,utilization.gpu --format=csv,noheader,nounits';
    const heartbeat = async (): Promise<(number | undefined)[]> => {
      const { gpus } = await machine.host.observeDevices();
      return gpus.slice(0, 3).map((gpu) => gpu.utilisation_percent ?? undefined);
    };

    it('are as busy as the programs that name them, in the guest and in the heartbeat', async () => {
      expect(await output(query)).toBe('0, 0\n1, 0');
      expect(await heartbeat()).toEqual([0, 0, 0]);
      await sshExec(
        client,
        'CUDA_VISIBLE_DEVICES=1 nohup sh -c "while :; do :; done" > /dev/null 2>&1 & echo',
      );
      const busy = async (): Promise<boolean> => Number(/^1, (\d+)$/m.exec(await output(query))?.[1]) > 0;
      await expect.poll(busy, POLL).toBe(true);
      expect((await output(query)).split('\n')[0]).toBe('0, 0');
      await expect.poll(async () => ((await heartbeat())[1] ?? 0) > 0, POLL).toBe(true);
      const [first, , other] = await heartbeat();
      expect([first, other]).toEqual([0, 0]);
      expect(await output('nvidia-smi')).toMatch(/\| +1 +NVIDIA H200 .* [1-9]\d*% \|/);
      await sshExec(client, 'pkill -f "while :"');
      await expect.poll(() => output(query), POLL).toBe('0, 0\n1, 0');
      await expect.poll(heartbeat, POLL).toEqual([0, 0, 0]);
    });

    it('answer each field, with and without header and units', async () => {
      expect(await output('nvidia-smi --query-gpu=utilization.gpu,memory.total,name --format=csv')).toBe(
        'utilization.gpu [%], memory.total [MiB], name\n0 %, 143771 MiB, NVIDIA H200\n0 %, 143771 MiB, NVIDIA H200',
      );
      expect(await sshExec(client, 'nvidia-smi --query-gpu=colour')).toMatchObject({
        code: 2,
        stderr: 'Field "colour" is not a valid field to query.\n',
      });
    });
  });

  it.skipIf(process.getuid?.() !== 0)(
    'bounds the memory of all its processes together (needs root)',
    async () => {
      let log = '';
      for await (const chunk of await machine.host.openConsoleLog(own.allocation_id)) log += String(chunk);
      expect(log).toMatch(
        /Memory: (4 GiB for all processes together|2 GiB for each process; no control group: .+)/,
      );
      if (!log.includes('4 GiB')) return;
      const { pid, init_pid } = await runOf(own.allocation_id);
      const [life] = (await readFile(`/proc/${init_pid}/task/${init_pid}/children`, 'utf8')).split(' ');
      const group = async (one: number | string): Promise<string | undefined> =>
        (await readFile(`/proc/${one}/cgroup`, 'utf8'))
          .split('\n')
          .find((line) => line.includes(own.allocation_id));
      const expected = await group(pid);
      expect(expected).toContain(own.allocation_id);
      for (const one of [init_pid!, life!]) expect(await group(one)).toBe(expected);
      const [daemonProcess] = await processesWith(`hello from ${MARK}`, 'createServer');
      expect(await group(daemonProcess!.split(' ')[0]!)).toBe(expected);
    },
  );

  describe('its end', () => {
    const busy = async (id: string, mark: string): Promise<Client> => {
      const other = await login(id);
      other.on('error', () => undefined);
      await sshExec(other, `setsid sleep ${mark} > /dev/null 2>&1 < /dev/null & echo`);
      // Tenants can stop the process that waits for their session.
      other.exec(`sleep ${mark} & kill -STOP 0`, () => undefined);
      await expect.poll(async () => (await processesWith('sleep', mark)).length, POLL).toBeGreaterThan(1);
      await expect(machine.host.openGuestPort(id, 1)).rejects.toThrow();
      return other;
    };
    const nothing = async (id: string, mark: string): Promise<void> => {
      await expect
        .poll(async () => [...(await processesWith(id)), ...(await processesWith('sleep', mark))], POLL)
        .toEqual([]);
    };
    const powerOn = async (id: string): Promise<void> => {
      await machine.reopen();
      await expect.poll(() => stateOf(id), POLL).toBe('running');
      const again = await login(id);
      expect(await output('hostname; pgrep -c sleep', again)).toBe('train-01\n0');
      again.end();
    };
    const { allocation_id: id } = neighbour;

    it('comes when the tenant ends its first process, and it can be switched on again', async () => {
      const other = await busy(id, `${MARK}7`);
      await sshExec(other, 'kill -9 2').catch(() => undefined);
      await expect.poll(() => stateOf(id), POLL).toBe('stopped');
      await nothing(id, `${MARK}7`);
      await powerOn(id);
    });

    it('comes with its container', async () => {
      await busy(id, `${MARK}8`);
      process.kill((await runOf(id)).pid, 'SIGKILL');
      await expect.poll(() => stateOf(id), POLL).toBe('stopped');
      await nothing(id, `${MARK}8`);
      await powerOn(id);
    });

    it('comes with the hypervisor, for every guest', async () => {
      await busy(id, `${MARK}9`);
      client.on('error', () => undefined);
      process.kill((await runOf(id)).hypervisor_pid, 'SIGKILL');
      await nothing(id, `${MARK}9`);
      await nothing(own.allocation_id, MARK);
      await expect.poll(() => processesWith(`hello from ${MARK}`), POLL).toEqual([]);
      await powerOn(id);
    });

    it('comes with the release', async () => {
      await busy(id, `${MARK}0`);
      const step = machine.context.stage('stop', '');
      expect(await machine.host.removeVm(id, 10, step)).toBe('graceful');
      expect(await processesWith(id)).toEqual([]);
      expect(await processesWith('sleep', `${MARK}0`)).toEqual([]);
    });
  });
});
