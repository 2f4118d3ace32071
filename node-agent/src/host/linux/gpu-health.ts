import type { RunCommand } from './commands.ts';

/**
 * Xids that mean the device is at fault and wants a reset or a replacement. All others are an application's own, or
 * were dealt with by the GPU, and say nothing about whether it may be sold.
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

const LOOK_EVERY_MS = 30_000;

/** What is wrong with each GPU, by PCI address. */
export type GpuFaults = ReadonlyMap<string, string>;

/** Looks at the kernel's log of this boot and at what the driver says; a tool that is not there says nothing. */
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

/** Heartbeats come more often than faults: the same answer serves them for a while. */
export function watchGpuFaults(run: RunCommand, now: () => number = Date.now): () => Promise<GpuFaults> {
  let lookedAt = -Infinity;
  let latest: Promise<GpuFaults> = Promise.resolve(new Map());
  return () => {
    if (now() - lookedAt >= LOOK_EVERY_MS) {
      lookedAt = now();
      latest = readGpuFaults(run);
    }
    return latest;
  };
}

/** The last fault of each GPU, from lines such as `NVRM: Xid (PCI:0000:1b:00): 79, pid=...`. */
function* faultsInLog(text: string): Iterable<[string, string]> {
  for (const [, bus, code] of text.matchAll(/NVRM: Xid \(PCI:([0-9a-f:.]+)\): (\d+)/gi)) {
    const fault = FAULTS[Number(code)];
    if (fault) yield [pciAddress(bus!), `XID ${code}: ${fault}`];
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

/** As sysfs writes it: the log leaves the function out, nvidia-smi has a wider domain and capitals. */
export function pciAddress(bus: string): string {
  const [domain = '0', number = '0', device = '00'] = bus.toLowerCase().split(':');
  const slot = device.includes('.') ? device : `${device}.0`;
  return `${domain.slice(-4).padStart(4, '0')}:${number}:${slot}`;
}
