import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CommandResult } from '../host/linux/commands.ts';

interface FunctionState {
  node: string;
  port: string;
  /** As `ip` names it; the driver's names are Follow for auto and Down for disable. */
  state: string;
}

const DEVICES = '/sys/bus/pci/devices';
const NONE = '00:00:00:00:00:00:00:00';
const HARDWARE =
  '00:00:0a:2d:fe:80:00:00:00:00:00:00:ec:0d:9a:03:00:44:36:8d brd 00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff';

/**
 * InfiniBand adapters' state of their functions. Like real firmware it is lost with the functions. It is set
 * in one of two ways: through the files of NVIDIA's driver, or by `ip link` with the kernel's driver.
 */
export class FakeFabric {
  readonly #root: string;
  readonly #way: 'driver' | 'interface';
  readonly #functions = new Map<string, FunctionState[]>();
  /** Functions, such as `0000:18:00.0 0`, that ignore a new port GUID. */
  readonly deaf = new Set<string>();
  /** Arguments of each `ip link set`. */
  readonly commands: string[] = [];

  constructor(root: string, way: 'driver' | 'interface', adapters: readonly string[]) {
    this.#root = root;
    this.#way = way;
    for (const [index, adapter] of adapters.entries()) {
      if (way === 'interface') {
        this.#file(`${DEVICES}/${adapter}/net/ib${index}/type`, '32');
        // A partition, which sorts before the port.
        this.#file(`${DEVICES}/${adapter}/net/a${index}.8001/type`, '32');
        this.#file(`${DEVICES}/${adapter}/net/a${index}.8001/parent`, `ib${index}`);
      }
      this.set(adapter, 1);
    }
  }

  guidsOf(adapter: string): FunctionState[] {
    return this.#functions.get(adapter) ?? [];
  }

  /** So many functions, all without a name. */
  set(adapter: string, count: number): void {
    this.#functions.set(
      adapter,
      Array.from({ length: count }, () => ({ node: NONE, port: NONE, state: 'disable' })),
    );
    this.#show(adapter);
  }

  name(adapter: string, index: number, change: Partial<FunctionState>): void {
    if (this.deaf.has(`${adapter} ${index}`)) return;
    const state = this.guidsOf(adapter)[index];
    if (!state) throw Object.assign(new Error(`EINVAL: ${adapter} ${index}`), { code: 'EINVAL' });
    Object.assign(state, change);
    this.#show(adapter);
  }

  takes(path: string): boolean {
    return this.#way === 'driver' && /\/sriov\/\d+\/(node|port|policy)$/.test(path);
  }

  take(path: string, text: string): void {
    const [adapter = '', , index, name = ''] = path.slice(DEVICES.length + 1).split('/');
    const change = name === 'policy' ? { state: text === 'Follow' ? 'auto' : 'disable' } : { [name]: text };
    this.name(adapter, Number(index), change);
  }

  /** `ip link show dev ib0` and `ip link set dev ib0 vf 0 node_guid …`. */
  ip(words: readonly string[]): CommandResult {
    const [, verb, , port, , index, what = '', value = ''] = words;
    const adapter = [...this.#functions.keys()].find((one) =>
      existsSync(join(this.#root, DEVICES, one, 'net', String(port))),
    );
    if (this.#way !== 'interface' || !adapter)
      return { code: 1, stdout: '', stderr: `Device "${port}" does not exist.` };
    if (verb === 'show') return { code: 0, stdout: this.#print(adapter, String(port)), stderr: '' };
    this.commands.push(words.slice(1).join(' '));
    const key = { node_guid: 'node', port_guid: 'port', state: 'state' }[what] ?? what;
    this.name(adapter, Number(index), { [key]: value });
    return { code: 0, stdout: '', stderr: '' };
  }

  /** As iproute2 writes it. */
  #print(adapter: string, port: string): string {
    const functions = this.guidsOf(adapter).map(
      ({ node, port: guid, state }, index) =>
        `    vf ${index}     link/infiniband ${HARDWARE}, spoof checking off, NODE_GUID ${node}, PORT_GUID ${guid}, link-state ${state}, trust off, query_rss off`,
    );
    const flags = `7: ${port}: <BROADCAST,MULTICAST> mtu 4092 qdisc noop state DOWN mode DEFAULT group default qlen 256`;
    return [flags, `    link/infiniband ${HARDWARE}`, ...functions, ''].join('\n');
  }

  #show(adapter: string): void {
    if (this.#way !== 'driver') return;
    rmSync(join(this.#at(adapter), 'sriov'), { recursive: true, force: true });
    for (const [index, { node, port, state }] of this.guidsOf(adapter).entries()) {
      const at = `${DEVICES}/${adapter}/sriov/${index}`;
      this.#file(`${at}/node`, node);
      this.#file(`${at}/port`, port);
      this.#file(`${at}/policy`, state === 'auto' ? 'Follow' : 'Down');
    }
  }

  #at(adapter: string): string {
    return realpathSync(join(this.#root, DEVICES, adapter));
  }

  #file(path: string, text: string): void {
    mkdirSync(dirname(join(this.#root, path)), { recursive: true });
    writeFileSync(join(this.#root, path), `${text}\n`);
  }
}
