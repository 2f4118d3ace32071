import { createHash } from 'node:crypto';
import { TaskError } from '../../../tasks/task-error.ts';
import type { RunCommand } from '../commands.ts';
import type { Fabric } from '../inventory/fabrics.ts';
import { openGuidTable, type FunctionGuids } from './guid-tables.ts';
import { deviceFolder, type Sysfs } from './sysfs.ts';

export interface GuidHost {
  sysfs: Sysfs;
  run: RunCommand;
}

const NONE = /^(00:){7}00$/;

/** Current GUIDs of an InfiniBand adapter's functions; null where functions have none. */
export async function readGuids(host: GuidHost, fabric: Fabric): Promise<FunctionGuids[] | null> {
  if (!isInfiniBand(fabric)) return null;
  const table = openGuidTable(host, fabric.pf.address);
  return table ? await table.read() : null;
}

/**
 * Assigns GUIDs to the functions of an InfiniBand adapter, whose firmware clears them at each boot: without
 * GUIDs their ports stay down in the guest. A function keeps its recorded GUID, or else gets one derived from
 * adapter and function number, identical at every boot. Existing functions may be in use by a guest, so only
 * functions without a GUID get one. Must run before a driver binds the function, because drivers read the
 * GUID once. Returns the number of functions assigned.
 */
export async function assignGuids(
  host: GuidHost,
  fabric: Fabric,
  { noted = [], fresh }: { noted?: readonly FunctionGuids[] | undefined; fresh: boolean },
): Promise<number> {
  if (!isInfiniBand(fabric)) return 0;
  const { address } = fabric.pf;
  const table = openGuidTable(host, address);
  if (!table) {
    const detail = `nothing on this host gives GUIDs to the functions of ${address}`;
    throw new TaskError('functions_failed', `${detail}; load ib_ipoib, or install the adapter's own driver`);
  }
  const now = await table.read();
  const functions = host.sysfs.files.list(deviceFolder(address)).filter((name) => /^virtfn\d+$/.test(name));
  if (now.length < functions.length) {
    const known = `${now.length} of ${functions.length}`;
    throw new TaskError(
      'functions_failed',
      `${address} reports GUIDs for ${known} functions; the kernel is too old`,
    );
  }
  const wanted = now.map((guids, index) =>
    hasGuids(guids) && !(fresh && noted[index]) ? guids : (noted[index] ?? derive(fabric, index)),
  );
  const changed = [...wanted.keys()].filter((index) => !isSame(now[index], wanted[index]));
  for (const index of changed) await table.write(index, wanted[index]!);
  if (changed.length === 0) return 0;
  const after = await table.read();
  const deaf = changed.filter((index) => !isSame(after[index], wanted[index]));
  if (deaf.length > 0) {
    const said = deaf.map((index) => `${index} has ${after[index]?.port ?? 'no'} port GUID`).join(', ');
    throw new TaskError('functions_failed', `functions of ${address} do not take their GUIDs: ${said}`);
  }
  return changed.length;
}

export function hasGuids({ node, port }: FunctionGuids): boolean {
  return !NONE.test(node) && !NONE.test(port);
}

function isSame(one: FunctionGuids | undefined, other: FunctionGuids | undefined): boolean {
  return one?.node === other?.node && one?.port === other?.port;
}

/** The device class shows it even before the RDMA driver is loaded. */
function isInfiniBand({ pf, linkLayer }: Fabric): boolean {
  return linkLayer === null ? pf.pciClass.startsWith('0207') : linkLayer === 'InfiniBand';
}

/**
 * Derived from the adapter's own GUID, which its vendor keeps unique: marked as locally administered, never
 * multicast.
 */
function derive({ pf, nodeGuid }: Fabric, index: number): FunctionGuids {
  if (nodeGuid === null)
    throw new TaskError(
      'functions_failed',
      `${pf.address} does not report its own GUID; load its RDMA driver`,
    );
  const guid = (kind: string): string => {
    const bytes = createHash('sha256').update(`${nodeGuid} ${index} ${kind}`).digest().subarray(0, 8);
    bytes.writeUInt8((bytes.readUInt8(0) & 0xfc) | 0x02, 0);
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(':');
  };
  return { node: guid('node'), port: guid('port') };
}
