import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { WriteAttribute } from '../host/linux/devices/sysfs.ts';
import type { FakeFabric } from './fake-fabric.ts';

const DRIVERS = '/sys/bus/pci/drivers';
const DEVICES = '/sys/bus/pci/devices';
/** Driver that binds a device by default. */
const NATIVE: Record<string, string> = {
  '10de:2335': 'nvidia',
  '15b3:1021': 'mlx5_core',
  '15b3:101e': 'mlx5_core',
};

/**
 * A kernel for a tree of files, which would otherwise only store what is written. It binds and unbinds,
 * creates and removes virtual functions and resets, with the refusals of the real one as seen in an emulated
 * node.
 */
export class FakeKernel {
  readonly #root: string;
  /** Functions that are not there now, by adapter, as folders outside the tree. */
  readonly #asleep = new Map<string, string[]>();
  readonly resets: string[] = [];
  /** Writes in order, without the folder of the device. */
  readonly writes: string[] = [];
  /** Devices that cannot be reset. */
  readonly stubborn = new Set<string>();

  /** Receives functions that appear and disappear, and further writes about them. */
  readonly #fabric: FakeFabric | null;

  constructor(root: string, drivers: readonly string[], fabric: FakeFabric | null = null) {
    this.#root = root;
    this.#fabric = fabric;
    for (const driver of drivers) mkdirSync(this.#at(`${DRIVERS}/${driver}`), { recursive: true });
  }

  readonly write: WriteAttribute = async (path, value) => {
    const text = value.trim();
    if (!existsSync(this.#at(path)) && !/(unbind|drivers_probe)$/.test(path)) throw errno('ENOENT', path);
    if (this.#fabric?.takes(path)) {
      this.writes.push(`${path.replace(/^.*devices\//, '')} ${text}`);
      return this.#fabric.take(path, text);
    }
    const name = basename(path);
    const device = basename(dirname(path));
    this.writes.push(`${name} ${name.startsWith('sriov') || name === 'reset' ? `${device} ${text}` : text}`);
    if (name === 'driver_override') return writeFileSync(this.#at(path), `${text || '(null)'}\n`);
    if (name === 'unbind') return this.#unbind(text, device);
    if (name === 'drivers_probe') return this.#probe(text);
    if (name === 'sriov_drivers_autoprobe') return writeFileSync(this.#at(path), `${text}\n`);
    if (name === 'sriov_numvfs') return this.#setFunctions(device, Number(text));
    if (name === 'reset') return this.#reset(device);
    throw errno('EACCES', path);
  };

  /** Reboots the host: functions are gone, and each device is bound to its default driver. */
  reboot(): void {
    for (const adapter of this.#adapters()) this.#sleep(adapter);
    for (const address of readdirSync(this.#at(DEVICES))) {
      const override = this.#at(`${DEVICES}/${address}/driver_override`);
      if (existsSync(override)) writeFileSync(override, '(null)\n');
      if (this.#idOf(address) in NATIVE) this.#link(address, NATIVE[this.#idOf(address)]!);
    }
  }

  driverOf(address: string): string | null {
    const link = this.#at(`${DEVICES}/${address}/driver`);
    return existsSync(link) ? basename(realpathSync(link)) : null;
  }

  functionsOf(adapter: string): string[] {
    const folder = this.#at(`${DEVICES}/${adapter}`);
    return readdirSync(folder)
      .filter((name) => /^virtfn\d+$/.test(name))
      .toSorted()
      .map((name) => basename(realpathSync(join(folder, name))));
  }

  #adapters(): string[] {
    return readdirSync(this.#at(DEVICES)).filter((address) =>
      existsSync(this.#at(`${DEVICES}/${address}/sriov_numvfs`)),
    );
  }

  #unbind(address: string, driver: string): void {
    if (this.driverOf(address) !== driver) throw errno('ENODEV', address);
    rmSync(this.#at(`${DEVICES}/${address}/driver`));
  }

  #probe(address: string): void {
    const at = `${DEVICES}/${address}`;
    if (!existsSync(this.#at(at))) throw errno('ENODEV', address);
    if (this.driverOf(address) !== null) return;
    const override = readFileSync(this.#at(`${at}/driver_override`), 'utf8').trim();
    const named = override !== '(null)';
    const adapter = existsSync(this.#at(`${at}/physfn`)) ? realpathSync(this.#at(`${at}/physfn`)) : null;
    if (adapter && !named && readFileSync(join(adapter, 'sriov_drivers_autoprobe'), 'utf8').trim() === '0')
      return;
    const driver = named ? override : NATIVE[this.#idOf(address)];
    if (!driver || !existsSync(this.#at(`${DRIVERS}/${driver}`))) return;
    // An adapter with functions cannot be bound to vfio-pci.
    if (driver === 'vfio-pci' && this.#number(address, 'sriov_numvfs') > 0) throw errno('EINVAL', address);
    this.#link(address, driver);
  }

  #setFunctions(adapter: string, wanted: number): void {
    const driver = this.driverOf(adapter);
    if (driver === null || driver === 'vfio-pci') throw errno('ENOENT', adapter);
    const now = this.#number(adapter, 'sriov_numvfs');
    if (wanted === now) return;
    if (wanted > 0 && now > 0) throw errno('EBUSY', adapter);
    if (wanted > this.#number(adapter, 'sriov_totalvfs')) throw errno('ERANGE', adapter);
    if (wanted === 0) this.#sleep(adapter);
    else this.#wake(adapter, wanted);
  }

  #sleep(adapter: string): void {
    const at = this.#at(`${DEVICES}/${adapter}`);
    const asleep = this.functionsOf(adapter).map((address) => {
      const place = realpathSync(this.#at(`${DEVICES}/${address}`));
      const bed = join(this.#root, '..', `${basename(this.#root)}.asleep`, address);
      mkdirSync(dirname(bed), { recursive: true });
      rmSync(join(place, 'driver'), { force: true });
      renameSync(place, bed);
      rmSync(this.#at(`${DEVICES}/${address}`));
      return address;
    });
    for (const name of readdirSync(at).filter((entry) => /^virtfn\d+$/.test(entry))) rmSync(join(at, name));
    if (asleep.length > 0) this.#asleep.set(adapter, asleep);
    writeFileSync(join(at, 'sriov_numvfs'), '0\n');
    this.#fabric?.set(adapter, 0);
  }

  #wake(adapter: string, count: number): void {
    const at = realpathSync(this.#at(`${DEVICES}/${adapter}`));
    const asleep = this.#asleep.get(adapter) ?? [];
    if (asleep.length < count) throw errno('ENOMEM', adapter);
    for (const [index, address] of asleep.slice(0, count).entries()) {
      const place = join(dirname(at), address);
      renameSync(join(this.#root, '..', `${basename(this.#root)}.asleep`, address), place);
      symlinkSync(relative(this.#at(DEVICES), place), this.#at(`${DEVICES}/${address}`));
      symlinkSync(relative(at, place), join(at, `virtfn${index}`));
      writeFileSync(join(place, 'driver_override'), '(null)\n');
    }
    writeFileSync(join(at, 'sriov_numvfs'), `${count}\n`);
    this.#fabric?.set(adapter, count);
    for (const address of asleep.slice(0, count)) this.#probe(address);
  }

  #reset(address: string): void {
    if (this.stubborn.has(address)) throw errno('ENOTTY', address);
    this.resets.push(address);
  }

  #link(address: string, driver: string): void {
    const at = realpathSync(this.#at(`${DEVICES}/${address}`));
    mkdirSync(this.#at(`${DRIVERS}/${driver}`), { recursive: true });
    rmSync(join(at, 'driver'), { force: true });
    symlinkSync(relative(at, this.#at(`${DRIVERS}/${driver}`)), join(at, 'driver'));
  }

  #number(address: string, attribute: string): number {
    const file = this.#at(`${DEVICES}/${address}/${attribute}`);
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  }

  #idOf(address: string): string {
    const read = (name: string): string =>
      readFileSync(this.#at(`${DEVICES}/${address}/${name}`), 'utf8')
        .trim()
        .slice(2);
    return `${read('vendor')}:${read('device')}`;
  }

  #at(path: string): string {
    return join(realpathSync(this.#root), path);
  }
}

function errno(code: string, about: string): Error {
  return Object.assign(new Error(`${code}: ${about}`), { code });
}
