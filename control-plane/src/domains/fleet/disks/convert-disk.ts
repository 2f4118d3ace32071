import type { Tx } from '../../../platform/db/database.ts';
import { Problem, type ProblemDetail } from '../../../platform/http/problem.ts';
import { getDisk, requireFreeDisk, type NodeDisk } from './disk-ownership.ts';
import { latestSucceededTask } from '../../tasks/latest-succeeded.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { present } from '../../../platform/present.ts';

/**
 * Records that the data on a disk may be destroyed. The platform unmounts nothing; infrastructure staff end
 * the use of the disk.
 */
export async function startDiskConversion(
  tx: Tx,
  request: { nodeId: string; serial: string; note: string; startedBy: string; now: Date },
): Promise<NodeDisk> {
  const { nodeId, serial } = request;
  await lockNode(tx, nodeId);
  const disk = await requireFreeDisk(tx, nodeId, serial);
  const blank = disk.mounts.length === 0 && disk.filesystems.length === 0;
  if (disk.ownership === 'slice' && blank) {
    throw new Problem('disk_conversion_refused', 'The disk is slice-owned already, and nothing is on it.');
  }
  const conversion = {
    // Until the conversion ends a disk of slices has no owner.
    ownership: disk.ownership === 'slice' ? null : disk.ownership,
    conversion_started_at: request.now,
    conversion_started_by: request.startedBy,
    conversion_note: request.note,
  };
  await tx
    .insertInto('node_disks')
    .values({ node_id: nodeId, serial, ...conversion })
    .onConflict((c) => c.columns(['node_id', 'serial']).doUpdateSet(conversion))
    .execute();
  return await getDisk(tx, nodeId, serial);
}

/** Makes the disk slice-owned if a discovery after the start shows it unused. Never a blind unmount. */
export async function finishDiskConversion(
  tx: Tx,
  request: { nodeId: string; serial: string; wipeProof: string | null },
): Promise<NodeDisk> {
  const { nodeId, serial, wipeProof } = request;
  await lockNode(tx, nodeId);
  const disk = await requireFreeDisk(tx, nodeId, serial);
  if (!disk.conversion) {
    throw new Problem('disk_conversion_refused', 'No conversion of this disk has been started.');
  }
  const discovery = await latestSucceededTask(tx, nodeId, 'slice.topology_discover');
  const errors: ProblemDetail[] = [];
  if (!discovery || discovery.task.created_at < new Date(disk.conversion.started_at)) {
    errors.push(missing('rediscovery_missing', 'discover the host again after the conversion began'));
  }
  if (!disk.present) errors.push(missing('disk_not_seen', 'the latest discovery did not see the disk'));
  for (const mount of disk.mounts) errors.push(missing('disk_mounted', `${mount} is still mounted`));
  if (disk.filesystems.length > 0 && !wipeProof) {
    errors.push({
      pointer: '/wipe_proof',
      code: 'wipe_proof_missing',
      detail: `left on the disk: ${disk.filesystems.join(', ')}`.slice(0, 500),
    });
  }
  if (errors.length > 0) {
    throw new Problem('disk_conversion_refused', 'The disk is not shown to be free.', { errors });
  }
  await tx
    .updateTable('node_disks')
    .set({
      ownership: 'slice',
      conversion_started_at: null,
      conversion_started_by: null,
      conversion_note: null,
      evidence_task_id: present(discovery, 'discovery').task.id,
      wipe_proof: wipeProof,
    })
    .where('node_id', '=', nodeId)
    .where('serial', '=', serial)
    .execute();
  return await getDisk(tx, nodeId, serial);
}

function missing(code: string, detail: string): ProblemDetail {
  return { pointer: '', code, detail };
}
