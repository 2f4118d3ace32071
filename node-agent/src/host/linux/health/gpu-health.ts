import type { RunCommand } from '../commands.ts';

/**
 * Xids that mean the device is faulty and needs a reset or a replacement. All others are caused by an
 * application or were handled by the GPU, and do not affect whether it may be leased.
 */
const FAULTS: Readonly<Record<number, string>> = {
  48: 'double-bit ECC error',
  62: 'internal microcontroller halt',
  64: 'a memory row could not be remapped',
  74: 'NVLink error',
  79: 'GPU has fallen off the bus',
  95: 'uncontained memory error',
  119: 'GSP does not answer',
  120: 'GSP error',
  140: 'unrecovered ECC error',
};

const CHECK_EVERY_MS = 30_000;

/** Fault of each GPU, by PCI address. */
export type GpuFaults = ReadonlyMap<string, string>;

/** Reads the kernel log of this boot and the driver's status; a missing tool reports no faults. */
export async function readGpuFaults(run: RunCommand): Promise<GpuFaults> {
  const log = await run('journalctl', [
    '--dmesg',
    '--boot',
    '--no-pager',
    '--output=cat',
    '--grep=NVRM: Xid',
  ]);
  const driver = await run('nvidia-smi', [
    '--query-gpu=pci.bus_id,remapped_rows.failure,ecc.errors.uncorrected.volatile.total',
    '--format=csv,noheader,nounits',
  ]);
  return new Map([...faultsByDriver(driver?.stdout ?? ''), ...faultsInLog(log?.stdout ?? '')]);
}

/** Heartbeats are more frequent than faults, so results are reused for a while. */
export function cachedGpuFaults(run: RunCommand, now: () => number = Date.now): () => Promise<GpuFaults> {
  let readAt = -Infinity;
  let latest: Promise<GpuFaults> = Promise.resolve(new Map());
  return () => {
    if (now() - readAt >= CHECK_EVERY_MS) {
      readAt = now();
      latest = readGpuFaults(run);
    }
    return latest;
  };
}

/** The last fault of each GPU, from lines such as `NVRM: Xid (PCI:0000:1b:00): 79, pid=...`. */
function* faultsInLog(text: string): Iterable<[string, string]> {
  for (const [, bus, code] of text.matchAll(/NVRM: Xid \(PCI:([0-9a-f:.]+)\): (\d+)/gi)) {
    const fault = FAULTS[Number(code)];
    if (bus !== undefined && fault) yield [pciAddress(bus), `XID ${code}: ${fault}`];
  }
}

function* faultsByDriver(text: string): Iterable<[string, string]> {
  for (const line of text.split('\n')) {
    const [bus, remapFailed, uncorrected] = line.split(',').map((part) => part.trim());
    if (!bus) continue;
    if (/^yes$/i.test(remapFailed ?? '')) yield [pciAddress(bus), 'a memory row could not be remapped'];
    else if (Number(uncorrected) > 0)
      yield [pciAddress(bus), `${uncorrected} uncorrected ECC errors since boot`];
  }
}

/** In sysfs format: the kernel log omits the function, nvidia-smi has a wider domain and capitals. */
export function pciAddress(bus: string): string {
  const [domain = '0', number = '0', device = '00'] = bus.toLowerCase().split(':');
  const slot = device.includes('.') ? device : `${device}.0`;
  return `${domain.slice(-4).padStart(4, '0')}:${number}:${slot}`;
}
