import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { sliceProfiles } from '../../catalog/slice-profile.ts';
import { serialKey } from '../disks/serial-key.ts';
import type { ApprovalContext } from './approval-rules.ts';
import { deviceHistory } from './device-history.ts';

/** Facts about the host, its disks and its other slots that the approval rules need. */
export async function approvalContext(
  db: Db | Tx,
  node: { id: string; mode: string | null },
  request: {
    fabricClaimMode: string;
    destructiveWipePolicy: string;
    /** Slots that this approval covers; they cannot conflict with themselves. */
    reapproved: ReadonlySet<number>;
    discovered: readonly CandidateSlot[];
  },
): Promise<ApprovalContext> {
  const disks = await db
    .selectFrom('node_disks')
    .select(['serial', 'ownership', 'wipe_proof'])
    .where('node_id', '=', node.id)
    .execute();
  const slots = await db
    .selectFrom('node_resource_slots')
    .select([
      'slot_index',
      'gpu_pci_address',
      'gpu_serial',
      'fabric_vf_pci_address',
      'nvme_serial',
      'management_mac',
      'private_ip',
    ])
    .where('node_id', '=', node.id)
    .execute();
  return {
    mode: node.mode,
    fabricClaimMode: request.fabricClaimMode,
    destructiveWipePolicy: request.destructiveWipePolicy,
    products: new Set((await sliceProfiles(db)).keys()),
    disks: new Map(
      disks.map((disk) => [
        serialKey(disk.serial),
        { ownership: disk.ownership, wipeProof: disk.wipe_proof },
      ]),
    ),
    approved: slots.filter((slot) => !request.reapproved.has(slot.slot_index)),
    discovered: request.discovered,
    ...(await deviceHistory(db, node.id, request.discovered)),
  };
}

/** One approval at a time in the whole fleet, so that two hosts cannot both be approved with one disk. */
export async function lockApprovals(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('slot approvals', 0))`.execute(tx);
}
