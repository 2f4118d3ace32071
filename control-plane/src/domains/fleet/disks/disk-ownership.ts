import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { latestSucceededTask } from '../../tasks/latest-succeeded.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { requireNode } from '../nodes/require-node.ts';

export type NodeDisk = components['schemas']['NodeDisk'];

interface SeenDisk {
  mounts: string[];
  filesystems: string[];
}

/** Disks in the latest discovery or with a recorded owner, by serial. */
export async function listDisks(db: Db | Tx, nodeId: string): Promise<NodeDisk[]> {
  await requireNode(db, nodeId);
  const seen = await disksSeen(db, nodeId);
  const known = await db.selectFrom('node_disks').selectAll().where('node_id', '=', nodeId).execute();
  const slots = await db
    .selectFrom('node_resource_slots')
    .select(['id', 'nvme_serial'])
    .where('node_id', '=', nodeId)
    .execute();
  const serials = [...new Set([...seen.keys(), ...known.map((disk) => disk.serial)])].toSorted();
  return serials.slice(0, 200).map((serial): NodeDisk => {
    const row = known.find((disk) => disk.serial === serial);
    const observed = seen.get(serial);
    return {
      serial,
      ownership: row?.ownership ?? null,
      conversion: row?.conversion_started_at
        ? {
            started_by: row.conversion_started_by!,
            started_at: row.conversion_started_at.toISOString(),
            note: row.conversion_note ?? '',
          }
        : null,
      present: observed !== undefined,
      mounts: observed?.mounts ?? [],
      filesystems: observed?.filesystems ?? [],
      slot_id: slots.find((slot) => slot.nvme_serial === serial)?.id ?? null,
      wipe_proof: row?.wipe_proof ?? null,
    };
  });
}

export async function getDisk(db: Db | Tx, nodeId: string, serial: string): Promise<NodeDisk> {
  const disk = (await listDisks(db, nodeId)).find((candidate) => candidate.serial === serial);
  if (!disk) throw notFound();
  return disk;
}

/** Sets the owner of a disk and ends a conversion. A disk of an approved slot stays slice-owned. */
export async function setDiskOwnership(
  tx: Tx,
  nodeId: string,
  serial: string,
  ownership: 'host' | 'share' | 'baremetal',
): Promise<NodeDisk> {
  await lockNode(tx, nodeId);
  await requireFreeDisk(tx, nodeId, serial);
  const values = {
    ownership,
    conversion_started_at: null,
    conversion_started_by: null,
    conversion_note: null,
    evidence_task_id: null,
    wipe_proof: null,
  };
  await tx
    .insertInto('node_disks')
    .values({ node_id: nodeId, serial, ...values })
    .onConflict((c) => c.columns(['node_id', 'serial']).doUpdateSet(values))
    .execute();
  return await getDisk(tx, nodeId, serial);
}

/** Throws unless the disk exists and is in no slot that is or may be leased. */
export async function requireFreeDisk(tx: Tx, nodeId: string, serial: string): Promise<NodeDisk> {
  const disk = await getDisk(tx, nodeId, serial);
  if (!disk.slot_id) return disk;
  const slot = await tx
    .selectFrom('node_resource_slots')
    .select('state')
    .where('id', '=', disk.slot_id)
    .executeTakeFirstOrThrow();
  if (slot.state !== 'disabled') {
    throw new Problem('disk_in_use', `Its slot is ${slot.state}; disable the slot first.`);
  }
  return disk;
}

/**
 * Assigns the disks of approved slots to slices. It consumes the proof of a wipe: content found after a lease
 * is new.
 */
export async function claimDisksForSlices(
  tx: Tx,
  nodeId: string,
  serials: string[],
  discoveryTaskId: string,
): Promise<void> {
  for (const serial of serials) {
    await tx
      .insertInto('node_disks')
      .values({ node_id: nodeId, serial, ownership: 'slice', evidence_task_id: discoveryTaskId })
      .onConflict((c) =>
        c.columns(['node_id', 'serial']).doUpdateSet({
          ownership: 'slice',
          evidence_task_id: discoveryTaskId,
          conversion_started_at: null,
          conversion_started_by: null,
          conversion_note: null,
          wipe_proof: null,
        }),
      )
      .execute();
  }
}

async function disksSeen(db: Db | Tx, nodeId: string): Promise<Map<string, SeenDisk>> {
  const latest = await latestSucceededTask(db, nodeId, 'slice.topology_discover');
  const seen = new Map<string, SeenDisk>();
  for (const disk of latest?.output.inventory?.disks ?? []) {
    if (disk.serial) seen.set(disk.serial, { mounts: disk.mounts, filesystems: disk.filesystems });
  }
  for (const { nvme_serial, nvme_mounts, nvme_filesystems } of latest?.output.candidates ?? []) {
    if (nvme_serial) seen.set(nvme_serial, { mounts: nvme_mounts, filesystems: nvme_filesystems ?? [] });
  }
  return seen;
}
