import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Client, ClientChannel } from 'ssh2';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { provisionSliceVm } from '../../../tasks/slice-vm-provision.ts';
import { HOSTNAME, openTestHost, type TestHost } from '../../../testing/simulated-host.ts';
import { provisionParams } from '../../../testing/slots.ts';
import { createKeyPair, sshExec, sshLogin } from '../../../testing/ssh.ts';

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 20_000 });

const keys = createKeyPair();
const params = provisionParams(HOSTNAME, [0, 1], [keys.public]);
let machine: TestHost;
let client: Client;

beforeAll(async () => {
  machine = await openTestHost();
  await writeFile(join(machine.dir, 'host-secret'), 'secret of the host');
  await provisionSliceVm(params, machine, machine.context);
  client = await sshLogin(await machine.host.openGuestPort(params.allocation_id, 22), keys.private);
});

afterAll(async () => {
  client.end();
  await machine.close();
});

describe('the guest runs real commands', () => {
  it('as an unprivileged user with the VM’s name and its GPUs', async () => {
    const { code, stdout } = await sshExec(client, 'id -un; hostname; nvidia-smi -L; echo $HOME; exit 7');
    expect(code).toBe(7);
    expect(stdout).toMatch(
      /^ubuntu\ntrain-01\nGPU 0: NVIDIA H200 .*\nGPU 1: NVIDIA H200 .*\n\/home\/ubuntu\n$/,
    );
  });

  it('and keeps the home folder on its boot disk', async () => {
    await sshExec(client, 'echo kept > note.txt');
    const disk = join(machine.dir, 'disks', params.slots[0]?.nvme_serial ?? '', 'home', 'note.txt');
    expect(await readFile(disk, 'utf8')).toBe('kept\n');
  });

  it('passes standard input and error', async () => {
    const stdin = 'x'.repeat(3_000_000);
    const result = await sshExec(client, 'wc -c; echo problem >&2', { stdin });
    expect(result).toEqual({ code: 0, stdout: '3000000\n', stderr: 'problem\n' });
  });
});

describe('the guest is contained', () => {
  it('sees no file of the host', async () => {
    const { stdout } = await sshExec(
      client,
      `ls -d /root /srv /mnt /media /var/lib '${machine.dir}' 2>/dev/null; ls /home /tmp`,
    );
    expect(stdout.split('\n').filter(Boolean)).toEqual(['/home:', 'ubuntu', '', '/tmp:'].filter(Boolean));
  });

  it('cannot change the kernel, the system or its neighbours, and has no network', async () => {
    const { stdout } = await sshExec(
      client,
      [
        'test -w /proc/sys/kernel/printk && echo sysctl',
        'test -w /proc/sysrq-trigger && echo sysrq',
        'touch /usr/bin/x /etc/passwd 2>/dev/null && echo system',
        'cat /proc/net/dev | grep -v -e lo: -e face -e Inter | grep . && echo network',
        'ps -e | grep -q node && echo neighbours',
        'grep -q "^CapEff:.*[1-9a-f]" /proc/self/status && echo capabilities',
        'test "$(id -u)" = 0 && echo root',
        'true',
      ].join('\n'),
    );
    expect(stdout).toBe('');
  });

  it('inherits no file of the simulator', async () => {
    const { stdout } = await sshExec(client, 'ls /proc/self/fd');
    expect(stdout.split('\n').filter(Boolean)).toEqual(['0', '1', '2', '3']);
  });
});

describe('ports of the guest', () => {
  it('are those that its programs listen on, and never those of the host', async () => {
    const outside = createServer((socket) => socket.end('the host')).listen(0, '127.0.0.1');
    await once(outside, 'listening');
    const hostPort = (outside.address() as AddressInfo).port;
    await expect(machine.host.openGuestPort(params.allocation_id, hostPort)).rejects.toThrow(
      /nothing .* listens/,
    );
    outside.close();
    const server =
      '$| = 1; $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:8000", Listen => 5); print "listening\n"; ' +
      '$c = $s->accept; while (($r = sysread($c, $b, 65536)) > 0) { $n += $r } print $c $n';
    const channel = await new Promise<ClientChannel>((resolve, reject) => {
      client.exec(`perl -MIO::Socket::INET -e '${server}'`, (error, stream) =>
        error ? reject(error) : resolve(stream),
      );
    });
    await once(channel, 'data');
    const stream = await machine.host.openGuestPort(params.allocation_id, 8000);
    stream.end(Buffer.alloc(3_000_000));
    let answer = '';
    for await (const chunk of stream) answer += String(chunk);
    expect(answer).toBe('3000000');
  });

  it('has a console whose log can be read', async () => {
    let text = '';
    for await (const chunk of await machine.host.openConsoleLog(params.allocation_id)) text += String(chunk);
    expect(text).toContain('SIMULATED machine');
    expect(text).toContain('train-01 login:');
  });
});

describe('the terminal', () => {
  it('greets honestly, has job control and follows the window', async () => {
    const shell = await new Promise<ClientChannel>((resolve, reject) => {
      client.shell({ cols: 90, rows: 30, term: 'xterm' }, (error, stream) =>
        error ? reject(error) : resolve(stream),
      );
    });
    let screen = '';
    shell.on('data', (data: Buffer) => (screen += data.toString()));
    const seen = async (text: string | RegExp): Promise<void> => {
      await expect.poll(() => screen, { interval: 20 }).toMatch(text);
    };
    await seen('SIMULATED machine');
    await seen('ubuntu@train-01:~$ ');
    shell.write('stty size\n');
    await seen('30 90');
    shell.setWindow(50, 140, 0, 0);
    shell.write('stty size\n');
    await seen('50 140');
    shell.write('sleep 100 & jobs; fg\n');
    await seen(/\[1\]\+? *Running/);
    shell.write('\x03');
    shell.write('echo status=$?\n');
    await seen('status=130');
    expect(screen).not.toContain('no job control');
    shell.write('exit 3\n');
    const [code] = (await once(shell, 'exit')) as [number];
    expect(code).toBe(3);
  });

  it('moves a lot of output without losing a byte', async () => {
    const { stdout } = await sshExec(client, 'seq 1 200000 | sha256sum; seq 1 200000', { pty: true });
    expect(stdout.length).toBeGreaterThan(1_400_000);
    expect(stdout).toContain('\r\n200000\r\n');
  });
});

describe('who may log in', () => {
  it('refuses a key that is not on the list', async () => {
    const sock = await machine.host.openGuestPort(params.allocation_id, 22);
    await expect(sshLogin(sock, createKeyPair().private)).rejects.toThrow(/authentication/i);
  });

  it('refuses another user name', async () => {
    const sock = await machine.host.openGuestPort(params.allocation_id, 22);
    await expect(sshLogin(sock, keys.private, 'root')).rejects.toThrow(/authentication/i);
  });
});

it('bounds the sessions of a guest', async () => {
  const held = await Promise.all(
    Array.from(
      { length: 64 },
      () =>
        new Promise<ClientChannel>((resolve, reject) => {
          client.exec('sleep 60', (error, stream) => (error ? reject(error) : resolve(stream)));
        }),
    ),
  );
  await expect(sshExec(client, 'true')).rejects.toThrow();
  for (const channel of held) channel.close();
  await expect
    .poll(async () => (await sshExec(client, 'echo back').catch(() => null))?.stdout)
    .toBe('back\n');
});

it('forgets the sessions of clients that disconnect without closing them', async () => {
  for (let round = 0; round < 5; round += 1) {
    const login = await sshLogin(await machine.host.openGuestPort(params.allocation_id, 22), keys.private);
    login.on('error', () => undefined);
    const started = await Promise.all(
      Array.from(
        { length: 20 },
        () =>
          new Promise<ClientChannel>((resolve, reject) => {
            login.exec('sleep 60', (error, stream) => (error ? reject(error) : resolve(stream)));
          }),
      ),
    );
    expect(started).toHaveLength(20);
    login.destroy();
  }
  await expect
    .poll(async () => (await sshExec(client, 'echo back').catch(() => null))?.stdout)
    .toBe('back\n');
});

it('opens no shell without a sandbox, and names what is missing', async () => {
  const path = process.env['PATH'];
  const bare = await openTestHost();
  const launch = provisionParams(HOSTNAME, [5], [keys.public]);
  process.env['PATH'] = '/nowhere';
  try {
    await provisionSliceVm(launch, bare, bare.context);
  } finally {
    process.env['PATH'] = path;
  }
  try {
    const login = await sshLogin(await bare.host.openGuestPort(launch.allocation_id, 22), keys.private);
    const result = await sshExec(login, 'id');
    login.end();
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toContain('apt install bubblewrap');
  } finally {
    await bare.close();
  }
});

it('a machine that dies ends its own shells and no other machine', async () => {
  const other = provisionParams(HOSTNAME, [6], [keys.public]);
  await provisionSliceVm(other, machine, machine.context);
  const login = await sshLogin(await machine.host.openGuestPort(other.allocation_id, 22), keys.private);
  login.on('error', () => undefined);
  const cut = once(login, 'close');
  const shell = await new Promise<ClientChannel>((resolve, reject) => {
    login.exec('echo here; sleep 600', (error, stream) => (error ? reject(error) : resolve(stream)));
  });
  await once(shell, 'data');
  const folder = join(machine.dir, 'vms', other.allocation_id);
  /** Its container and its sessions. */
  const containers = async (): Promise<number> => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    return lines.filter((line) => line.includes(other.allocation_id)).length;
  };
  expect(await containers()).toBeGreaterThan(3);
  const { pid } = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as { pid: number };
  process.kill(pid, 'SIGKILL');
  await cut;
  await expect.poll(containers, { timeout: 10_000 }).toBe(0);
  const states = async (): Promise<string[][]> =>
    (await machine.host.listVms()).map(({ allocation_id, state }) => [allocation_id, state]);
  await expect.poll(states, { timeout: 10_000 }).toContainEqual([other.allocation_id, 'stopped']);
  expect(await states()).toContainEqual([params.allocation_id, 'running']);
  expect((await sshExec(client, 'echo still')).stdout).toBe('still\n');
});
