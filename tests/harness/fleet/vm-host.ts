import { execFileSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildTinyImage, type TinyImage } from '@gpuaas/lab/vm/build-tiny-image';
import { claimFolder, LAB_FOLDER, removeStaleLabs } from '@gpuaas/lab/vm/loop-disks';
import { openLabNamespace, type LabNamespace } from '@gpuaas/lab/vm/lab-namespace';
import { exposeLocalPort } from '@gpuaas/lab/vm/expose-local-port';
import { serveImages, type ImageServer } from '@gpuaas/lab/vm/serve-image';
import { dhcpPaths, dnsmasqConfig, openToServer } from '@gpuaas/node-agent/host/linux/network/dhcp';
import { suggestAddresses } from '@gpuaas/node-agent/host/suggest-addresses';
import { withServiceCapabilities } from './service-powers.ts';
import { hgxH200 } from '@gpuaas/node-agent/host/simulated/host-tree/hgx-h200';
import { writeHostTree } from '@gpuaas/node-agent/host/simulated/host-tree/write-host-tree';

export const VM_HOSTNAME = 'lab-vm-01';

const AGENT = fileURLToPath(new URL('../../../node-agent/src/main.ts', import.meta.url));
const MIB = 2 ** 20;
const DISK_BYTES = 256 * MIB;
const GPUS = 2;

/**
 * A host of two GPUs of which the PCI bus is written down and everything else is real. Its agent has the powers that the
 * installed service has, and no other.
 */
export interface VmHost {
  room: LabNamespace;
  image: TinyImage;
  images: ImageServer;
  /** The agent's state folder. */
  dir: string;
  /** The tree used as `/`. */
  root: string;
  startAgent(server: string, env?: Record<string, string>): Promise<ChildProcess>;
  /** Sets the bridge up like bootstrap, again after a test removed it. */
  bringUpBridge(): Promise<void>;
  startDhcp(): Promise<void>;
  log(): string;
  /** Console output of an allocation's machine. */
  consoleOf(allocationId: string): string;
  close(): Promise<void>;
}

export interface VmHostOptions {
  ignoresPowerButton?: boolean;
  /** Another than the tiny one, and disks that it fits on. */
  image?: TinyImage;
  diskBytes?: number;
}

export function labCache(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'gpuaas-lab');
}

export async function openVmHost(options: VmHostOptions = {}): Promise<VmHost> {
  const undo: (() => void | Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    return await open(options, undo, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(
  options: VmHostOptions,
  undo: (() => void | Promise<void>)[],
  close: () => Promise<void>,
): Promise<VmHost> {
  const { image = buildTinyImage({ cache: labCache(), ...options }), diskBytes = DISK_BYTES } = options;
  removeStaleLabs();
  const folder = mkdtempSync(join(tmpdir(), LAB_FOLDER));
  claimFolder(folder);
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  const room = await openLabNamespace({ folder, disks: GPUS, diskBytes, cache: labCache() });
  undo.push(() => room.close());
  // As the service has it (ProtectSystem=yes).
  await room.run('mount', '--bind', '/usr', '/usr');
  await room.run('mount', '-o', 'remount,bind,ro', '/usr');
  const dir = join(folder, 'agent');
  const root = join(folder, 'root');
  writeTree(root, room);
  await bringUpBridge(room);
  await startDhcp(room, dir);
  const images = await serveImages({ [image.digest.replace(':', '-')]: image.file });
  undo.push(() => images.close());
  undo.push(await exposeLocalPort(room, folder, images.port));
  const logFile = join(folder, 'agent.log');
  const relayed = new Set<string>();

  return {
    room,
    image,
    images,
    dir,
    root,
    async startAgent(server, env = {}) {
      const { port } = new URL(server);
      if (!relayed.has(port)) undo.push(await exposeLocalPort(room, folder, Number(port)));
      relayed.add(port);
      const [limit = '', ...words] = withServiceCapabilities();
      const agent = room.start(limit, [...words, process.execPath, AGENT], {
        logFile,
        env: {
          GPUAAS_AGENT_SERVER: server,
          GPUAAS_AGENT_DIR: dir,
          GPUAAS_AGENT_HOSTNAME: VM_HOSTNAME,
          GPUAAS_AGENT_HOST: 'linux',
          GPUAAS_LINUX_ROOT: root,
          GPUAAS_LINUX_ACCELERATOR: 'tcg',
          GPUAAS_LINUX_FIRMWARE: 'bios',
          GPUAAS_LINUX_PASSTHROUGH: 'none',
          GPUAAS_LINUX_IMAGE_SOURCES: `http://127.0.0.1:${images.port}/{digest}`,
          GPUAAS_LINUX_GUEST_DEADLINE_SECONDS: '120',
          ...env,
        },
      });
      undo.push(() => end(agent));
      return agent;
    },
    bringUpBridge: () => bringUpBridge(room),
    startDhcp: () => startDhcp(room, dir),
    log: () => readFileSync(logFile, 'utf8'),
    consoleOf(allocationId) {
      const file = join(dir, 'slices', allocationId, 'console.log');
      return existsSync(file) ? readFileSync(file, 'utf8') : 'no console';
    },
    close,
  };
}

async function end(agent: ChildProcess): Promise<void> {
  if (agent.exitCode !== null || agent.signalCode !== null) return;
  agent.kill('SIGKILL');
  await once(agent, 'exit');
}

/** The example server with two GPUs; its data disks are the loop devices, and `/proc` is that of the room. */
function writeTree(root: string, room: LabNamespace): void {
  const disks = Object.fromEntries(
    room.disks.map(({ number, sizeBytes }, index) => [index, { number, sizeBytes }]),
  );
  const tree = hgxH200({ gpus: GPUS, disks, functionDriver: 'vfio-pci' });
  const tools = ['rdma', 'ibv_devinfo', 'ibstat', 'qemu-img', 'cloud-localds'].map(
    (name) => `/usr/bin/${name}`,
  );
  const present = [...tools, '/usr/share/OVMF/OVMF_CODE_4M.fd', '/var/lib/gpuaas/images/.keep'];
  writeHostTree(root, {
    ...tree,
    files: { ...tree.files, ...Object.fromEntries(present.map((path) => [path, ''])) },
  });
  rmSync(join(root, 'proc'), { recursive: true });
  symlinkSync('/proc', join(root, 'proc'));
  for (const [index, { number }] of room.disks.entries()) {
    const node = join(root, 'dev', `nvme${8 - index}n1`);
    const [major = '', minor = ''] = number.split(':');
    rmSync(node);
    execFileSync('mknod', [node, 'b', major, minor]);
  }
}

export const BRIDGE = 'ovsbr0';

/** The bootstrap of a real host: the bridge with the host's address, and DHCP on it. */
export async function bringUpBridge(room: LabNamespace): Promise<void> {
  await room.run('ovs-vsctl', 'add-br', BRIDGE, '--', 'set', 'bridge', BRIDGE, 'datapath_type=netdev');
  await room.run('ip', 'address', 'add', `${gateway()}/24`, 'dev', BRIDGE);
  await room.run('ip', 'link', 'set', BRIDGE, 'up');
}

export async function startDhcp(room: LabNamespace, dir: string): Promise<void> {
  const { folder, config, hosts } = dhcpPaths(dir);
  mkdirSync(folder, { recursive: true });
  writeFileSync(config, dnsmasqConfig(dir, BRIDGE, gateway()));
  writeFileSync(hosts, '', { flag: 'a' });
  await openToServer(dir);
  // On a real host this is /var/lib, which is open to everybody.
  chmodSync(dirname(dir), 0o711);
  await room.run('dnsmasq', `--conf-file=${config}`);
}

export function gateway(): string {
  return suggestAddresses(VM_HOSTNAME)(0).private_ip.replace(/\.\d+$/, '.1');
}
