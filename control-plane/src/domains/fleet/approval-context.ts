import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../platform/db/database.ts';
import { sliceModels } from '../catalog/slice-profile.ts';
import type { ApprovalContext } from './approval-rules.ts';

/** What the approval rules need to know of the host, its disks and its other slots. */
export async function approvalContext(
  db: Db | Tx,
  node: { id: string; mode: string },
  request: {
    fabricClaimMode: string;
    destructiveWipePolicy: string;
    /** Slots that are up for approval and cannot stand against themselves. */
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
    products: await sliceModels(db),
    disks: new Map(
      disks.map((disk) => [disk.serial, { ownership: disk.ownership, wipeProof: disk.wipe_proof }]),
    ),
    approved: slots.filter((slot) => !request.reapproved.has(slot.slot_index)),
    discovered: request.discovered,
  };
}
