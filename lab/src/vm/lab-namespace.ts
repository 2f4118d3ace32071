import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { attachLoopDisk, detachLoopDisk, type LoopDisk } from './loop-disks.ts';

export interface LabNamespaceOptions {
  /** For all files of the namespace; its owner removes it. */
  folder: string;
  disks: number;
  diskBytes: number;
  /** Survives the namespace: libvirt takes seconds to probe QEMU again. */
  cache: string;
}

/**
 * An isolated host: own network, own processes, own mounts. All of it belongs to one process whose standard
 * input we hold, so that daemons, machines, interfaces and disks end with us, even if we are killed.
 */
export interface LabNamespace {
  disks: readonly Omit<LoopDisk, 'fd'>[];
  run(tool: string, ...args: string[]): Promise<string>;
  /** Starts a process in the namespace that lives until it is killed or the namespace ends. */
  start(
    tool: string,
    args: readonly string[],
    options: { env?: Record<string, string>; logFile?: string },
  ): ChildProcess;
  /** A daemon that puts itself into the background, or one that we leave there. */
  startLibvirt(): Promise<void>;
  close(): Promise<void>;
}

const TOOL_MS = 60_000;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export async function openLabNamespace({
  folder,
  disks: count,
  diskBytes,
  cache,
}: LabNamespaceOptions): Promise<LabNamespace> {
  const disks = Array.from({ length: count }, (_, index) =>
    attachLoopDisk(join(folder, `nvme${index}.img`), diskBytes),
  );
  // The shell reaps orphaned daemons and closes the disks, so that only their real users show.
  const close = disks.map((_disk, index) => `${index + 3}<&-`).join(' ');
  const keeper = spawn(
    'unshare',
    [
      '--mount',
      '--net',
      '--ipc',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      'sh',
      '-c',
      `exec ${close}; cat; :`,
    ],
    { stdio: ['pipe', 'ignore', 'inherit', ...disks.map((disk) => disk.fd)], env: { PATH } },
  );
  const gone = once(keeper, 'exit');
  for (const disk of disks) detachLoopDisk(disk);
  const target = await firstProcess(keeper);
  const enter = ['--target', String(target), '--mount', '--net', '--ipc', '--pid', '--'];

  const run = (tool: string, ...args: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { timeout: TOOL_MS, env: { PATH, LC_ALL: 'C' }, maxBuffer: 16 * 2 ** 20 };
      execFile('nsenter', [...enter, tool, ...args], options, (error, stdout, stderr) =>
        error ? reject(new Error(`${tool} ${args.join(' ')}: ${stderr || error.message}`)) : resolve(stdout),
      );
    });
  const start: LabNamespace['start'] = (tool, args, { env = {}, logFile }) => {
    // Killing the entering process kills its child.
    const words = [...enter, 'setpriv', '--pdeathsig', 'KILL', '--', tool, ...args];
    const child = spawn('nsenter', words, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH, ...env } });
    const keep = (data: Buffer): void => {
      if (logFile) writeFileSync(logFile, data, { flag: 'a' });
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    return child;
  };

  await furnish(run, folder, cache);
  return {
    disks,
    run,
    start,
    startLibvirt: () => startLibvirt(run),
    async close() {
      keeper.stdin?.end();
      await gone;
    },
  };
}

async function firstProcess(keeper: ChildProcess): Promise<number> {
  const end = Date.now() + TOOL_MS;
  for (;;) {
    const children = readFileSync(`/proc/${keeper.pid}/task/${keeper.pid}/children`, 'utf8').trim();
    const command = children && readFileSync(`/proc/${children}/comm`, 'utf8').trim();
    // Until then it is still unshare itself, with the mounts of the host.
    if (command === 'sh') return Number(children);
    if (keeper.exitCode !== null || Date.now() > end) throw new Error('the room did not open');
    await pause(10);
  }
}

type Run = LabNamespace['run'];

/** Private copies of every folder that the daemons write to. */
async function furnish(run: Run, folder: string, cache: string): Promise<void> {
  const etc = join(folder, 'etc-libvirt');
  mkdirSync(etc, { recursive: true });
  writeFileSync(
    join(etc, 'libvirtd.conf'),
    'auth_unix_rw = "none"\nlog_outputs = "3:file:/var/log/libvirt/libvirtd.log"\n',
  );
  writeFileSync(
    join(etc, 'qemu.conf'),
    [
      'security_driver = "none"',
      'user = "root"',
      'group = "root"',
      'dynamic_ownership = 0',
      'remember_owner = 0',
      'cgroup_controllers = []',
      'namespaces = []',
      'stdio_handler = "file"',
      '',
    ].join('\n'),
  );
  const libvirtCache = join(cache, 'libvirt');
  mkdirSync(libvirtCache, { recursive: true });
  for (const place of [
    '/run',
    '/dev/shm',
    '/var/lib/libvirt',
    '/var/log/libvirt',
    '/var/lib/openvswitch',
    '/var/log/openvswitch',
  ]) {
    await run('mount', '-t', 'tmpfs', 'tmpfs', place);
  }
  await run('mount', '--bind', etc, '/etc/libvirt');
  await run('mount', '--bind', libvirtCache, '/var/cache/libvirt');
  await run('mkdir', '-p', '/run/openvswitch', '/run/libvirt', '/run/lock', '/etc/libvirt/qemu');
  await run('ip', 'link', 'set', 'lo', 'up');
  await run('sysctl', '-q', '-w', 'net.ipv4.ip_forward=1');
  await startOvs(run);
  await startLibvirt(run);
}

async function startOvs(run: Run): Promise<void> {
  await run(
    'ovsdb-tool',
    'create',
    '/var/lib/openvswitch/conf.db',
    '/usr/share/openvswitch/vswitch.ovsschema',
  );
  const socket = '/run/openvswitch/db.sock';
  const log = (name: string): string => `--log-file=/var/log/openvswitch/${name}.log`;
  await run(
    'ovsdb-server',
    '/var/lib/openvswitch/conf.db',
    `--remote=punix:${socket}`,
    '--pidfile',
    log('ovsdb'),
    '--detach',
  );
  await run('ovs-vsctl', '--no-wait', 'init');
  await run('ovs-vswitchd', `unix:${socket}`, '--pidfile', log('vswitchd'), '--detach');
}

async function startLibvirt(run: Run): Promise<void> {
  await run('libvirtd', '--daemon');
  const end = Date.now() + 60_000;
  for (;;) {
    try {
      await run('virsh', '--quiet', '--connect', 'qemu:///system', 'version');
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await pause(200);
    }
  }
}
