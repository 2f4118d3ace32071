import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provisionParams } from '@gpuaas/node-agent/testing/slots';
import { planVm } from '@gpuaas/node-agent/slices/plan-vm';
import {
  bootSandbox,
  endSandbox,
  type BootedSandbox,
} from '@gpuaas/node-agent/host/simulated/guest/boot-sandbox';
import { sessionCommand } from '@gpuaas/node-agent/host/simulated/guest/session-command';
import { guestUid } from '@gpuaas/node-agent/host/simulated/guest/guest-user';
import { GuestRelay } from '@gpuaas/node-agent/host/simulated/guest/relay';
import type { Sandbox } from '@gpuaas/node-agent/host/simulated/guest/sandbox';
import { writeSystemFiles } from '@gpuaas/node-agent/host/simulated/guest/system-files';

const isRoot = process.getuid?.() === 0;
const canRun = existsSync('/usr/bin/bwrap') && existsSync('/usr/bin/python3');
/** Somebody without an account, as a platform that was started by hand. */
const PLAIN_UID = 64_999;

/** Takes every process that it may have, and gives them back when its input ends. */
const FORK_BOMB = `
import os, signal, sys
taken = []
try:
  while len(taken) < 5000:
    pid = os.fork()
    if pid == 0:
      signal.pause()
    taken.append(pid)
except BlockingIOError:
  print("full", flush=True)
sys.stdin.read()
for pid in taken: os.kill(pid, 9)
`;

/** Reads a file of the host through every process that it sees, and finds processes that were not confined yet. */
const SPY = `
import os, sys, time
secret, seconds = sys.argv[1], float(sys.argv[2])
print("looking", flush=True)
end = time.time() + seconds
seen = set()
while time.time() < end:
  for pid in os.listdir("/proc"):
    if not pid.isdigit(): continue
    seen.add(pid)
    for way in ("root", "cwd", "fd/3", "fd/4"):
      try:
        with open("/proc/%s/%s%s" % (pid, way, secret)) as file: print("read", way, file.read())
      except OSError: pass
    try:
      with open("/proc/%s/status" % pid) as file: status = file.read()
    except OSError: continue
    if pid != "1" and "Seccomp:\\t0" in status: print("not filtered", status)
    if pid != "1" and "CapEff:\\t0000000000000000" not in status: print("powerful", status)
print("saw", len(seen))
`;

/** What a tenant tries inside a machine of a platform that root runs, and of one that a plain user runs. */
describe.skipIf(!canRun)('a guest (needs bubblewrap and python3)', () => {
  for (const asRoot of [true, false]) {
    describe.skipIf(asRoot && !isRoot)(
      asRoot ? 'of a platform run as root (needs root)' : 'of a platform run as a plain user',
      () => attacks(asRoot),
    );
  }
});

function attacks(asRoot: boolean): void {
  let folder: string;
  let secret: string;
  let guests: { own: Machine; other: Machine };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gpuaas-guest-'));
    secret = join(folder, 'host-secret');
    writeFileSync(secret, 'secret of the host');
    chmodSync(folder, 0o755);
    await writeSystemFiles(join(folder, 'system'), planVm(provisionParams('attack-host', [0], [])));
    guests = { own: await boot('own', guestUid('a')), other: await boot('other', guestUid('b')) };
  }, 60_000);
  afterAll(async () => {
    for (const { booted } of Object.values(guests ?? {})) await endSandbox(booted);
    rmSync(folder, { recursive: true });
  });

  interface Machine {
    sandbox: Sandbox;
    booted: BootedSandbox;
  }

  async function boot(name: string, uid: number): Promise<Machine> {
    const home = join(folder, name);
    const owner = asRoot ? uid : isRoot ? PLAIN_UID : null;
    mkdirSync(home, { mode: 0o700 });
    if (owner !== null) chownSync(home, owner, owner);
    const sandbox: Sandbox = {
      allocationId: `attack-${name}`,
      hostname: 'victim',
      username: 'ubuntu',
      home,
      system: join(folder, 'system'),
      // The platform's own may lie where the plain user cannot reach it.
      node: '/bin/sh',
      owner,
      staged: asRoot,
      cgroup: null,
    };
    return { sandbox, booted: await bootSandbox(sandbox) };
  }

  function command(argv: string[], { sandbox, booted } = guests.own): [string, string[]] {
    const { file, args } = sessionCommand(sandbox, booted, argv, {});
    return [file, args];
  }

  function run(script: string, shell = ['/bin/bash', '-c']): { code: number | null; output: string } {
    const ended = spawnSync(...command([...shell, script]), {
      encoding: 'utf8',
      timeout: 60_000,
      env: { PATH: process.env['PATH'], SECRET_OF_THE_HOST: 'x' },
    });
    return { code: ended.status, output: `${ended.stdout}${ended.stderr}` };
  }
  const python = (script: string) => run(script, ['/usr/bin/python3', '-c']);

  it('runs programs at all', () => {
    expect(run('echo alive; id -u')).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^alive\n\d+\n/) as string,
    });
  });

  it('gives no user namespace', () => {
    expect(run('unshare -Ur true').code).not.toBe(0);
    expect(run('unshare -U true').code).not.toBe(0);
    const clone = python(
      'import ctypes, platform\n' +
        'libc = ctypes.CDLL(None, use_errno=True)\n' +
        'number = 56 if platform.machine() == "x86_64" else 220\n' +
        'pid = libc.syscall(number, 0x10000000 | 17, 0, 0, 0, 0)\n' +
        'print("made" if pid >= 0 else ctypes.get_errno())',
    );
    expect(clone.output).toBe('1\n');
  });

  it('filters system calls', () => {
    expect(run('grep -E "^(Seccomp|NoNewPrivs):" /proc/self/status').output).toBe(
      'NoNewPrivs:\t1\nSeccomp:\t2\n',
    );
    const refused = python(
      'import ctypes, platform\n' +
        'libc = ctypes.CDLL(None, use_errno=True)\n' +
        'x = platform.machine() == "x86_64"\n' +
        'calls = [165, 250, 248, 249, 321, 298, 323, 246, 175, 313] if x else [40, 219, 217, 218, 280, 241, 282, 104, 105, 273]\n' +
        'for call in calls:\n' +
        '  libc.syscall(call, 0, 0, 0, 0, 0); print(ctypes.get_errno())',
    );
    expect(refused.output).toBe('1\n'.repeat(10));
  });

  it('limits memory, files and processes', () => {
    const { output } = run('for one in c d f n u; do ulimit -$one; done');
    const limits = output.trim().split('\n');
    expect(limits).toHaveLength(5);
    expect(limits).not.toContain('unlimited');
    expect(python('b = bytearray(3 << 30); print("taken")').output).not.toContain('taken');
    for (const path of ['/tmp', '/var/tmp', '/dev/shm', '/usr/local']) {
      const size = Number(run(`stat -f -c '%b %S' ${path} | (read b s; echo $((b * s)))`).output);
      expect(size, path).toBeGreaterThan(0);
      expect(size, path).toBeLessThanOrEqual(1 << 30);
    }
    for (const path of ['/x', '/dev/x', '/run/x', '/etc/x']) {
      expect(run(`head -c 1 /dev/zero > ${path}`).code, path).not.toBe(0);
    }
  });

  it('leaves other guests their processes when one has used up its own', async () => {
    const bomb = spawn(...command(['/usr/bin/python3', '-c', FORK_BOMB]), {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      const [word] = (await once(bomb.stdout, 'data')) as [Buffer];
      expect(String(word)).toBe('full\n');
      const ended = spawnSync(...command(['/bin/bash', '-c', 'echo alive | cat'], guests.other), {
        encoding: 'utf8',
        timeout: 60_000,
      });
      expect(ended).toMatchObject({ status: 0, stdout: 'alive\n' });
    } finally {
      const gone = once(bomb, 'exit');
      bomb.stdin.end();
      await gone;
    }
  });

  it('shows nothing of the host, not even through its first process', () => {
    expect(run('cat /proc/[0-9]*/environ | tr "\\0" "\\n"').output).not.toContain('SECRET_OF_THE_HOST');
    for (const path of [secret, `/proc/1/root${secret}`, `/proc/1/cwd${secret}`, '/etc/shadow'])
      expect(run(`cat ${path}`).code, path).not.toBe(0);
    for (const file of ['environ', 'mem', 'maps', 'root/etc/passwd', 'cwd/etc/passwd', 'fd/0', 'ns/net'])
      expect(run(`head -c 1 /proc/1/${file}`).code, file).not.toBe(0);
    expect(run('cat /proc/[0-9]*/cmdline').output).not.toContain(folder);
    expect(run('hostname').output).toBe('victim\n');
    expect(run('ls /proc | grep -c "^[0-9]"').output.trim().length).toBeLessThan(3);
  });

  it('can mount nothing and leave nothing', () => {
    for (const way of [
      'mount -t tmpfs x /tmp',
      'mount --bind /usr /tmp',
      'mount -o remount,rw /',
      'umount /tmp',
      'chroot / true',
      'nsenter -t 1 -n true',
      'nsenter -t 1 -m -p true',
      'unshare -m true',
      'unshare -n true',
      'echo 5 > /proc/sys/user/max_user_namespaces',
      'chmod 777 /opt/gpuaas/confine',
      'echo x > /opt/gpuaas/bin/node',
      'echo 99 > /opt/gpuaas/gpu/use',
    ])
      expect(run(way).code, way).not.toBe(0);
    expect(run('kill -9 1; sleep 0.2; echo alive').output).toContain('alive');
  });

  it('inherits no file, also not through its first process', () => {
    const session = spawnSync(...command(['/bin/ls', '/proc/self/fd']), {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe', 'pipe'],
    });
    expect(session.stdout).toBe('0\n1\n2\n3\n');
    expect(run('ls /proc/2/fd').output).toBe('0\n1\n2\n');
    expect(run('grep -E "^(Seccomp|NoNewPrivs):" /proc/2/status').output).toBe(
      'NoNewPrivs:\t1\nSeccomp:\t2\n',
    );
  });

  it('finds no way out through sessions and helpers that start, in any moment of theirs', async () => {
    const spy = spawn(...command(['/usr/bin/python3', '-c', SPY, secret, '6']), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let found = '';
    spy.stdout.on('data', (chunk: Buffer) => (found += chunk.toString()));
    const ended = once(spy, 'close');
    await once(spy.stdout, 'data');
    const relay = new GuestRelay(guests.own.sandbox, guests.own.booted);
    try {
      await expect(relay.dial(1)).rejects.toThrow(/nothing .* listens/);
      const status = readFileSync(`/proc/${relay.pid}/status`, 'utf8');
      expect(status).toMatch(/^CapEff:\t0+$/m);
      expect(status).not.toMatch(/^Uid:\t0\t/m);
      while (spy.exitCode === null) {
        const sessions = Array.from({ length: 4 }, () =>
          spawn(...command(['/bin/true']), { stdio: 'ignore' }),
        );
        await Promise.all(sessions.map((session) => once(session, 'exit')));
      }
      await ended;
      expect(found).toMatch(/^looking\nsaw \d+\n$/);
      // It did see sessions come and go.
      expect(Number(/saw (\d+)/.exec(found)?.[1])).toBeGreaterThan(5);
      expect(run('cat /proc/[0-9]*/cmdline').output).not.toContain('relay-main');
    } finally {
      relay.stop();
    }
  }, 60_000);

  it('still runs what developers need', () => {
    expect(
      run(
        'bash -c "echo nested | cat"; mktemp; python3 -c "import threading; t = threading.Thread(target=print, args=(7,)); t.start(); t.join()"',
      ).output,
    ).toMatch(/^nested\n\/tmp\/.*\n7\n$/);
  });
}
