import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { serialKey } from '../disks/serial-key.ts';

/** Facts in the rest of the fleet about the devices of a host, as text by the key of a serial. */
export interface DeviceHistory {
  /** The slot of another host, for sale or leased, that has the device. */
  elsewhere: ReadonlyMap<string, string>;
  /** Why the erasure of the last tenant's data is not proven. */
  unproven: ReadonlyMap<string, string>;
}

interface Seen {
  serial: string;
  hostname: string;
  slot_index: number;
}

/** The history of a disk or GPU follows its serial through the whole fleet. */
export async function deviceHistory(
  db: Db | Tx,
  nodeId: string,
  candidates: readonly Pick<CandidateSlot, 'nvme_serial' | 'gpu_serial'>[],
): Promise<DeviceHistory> {
  const disks = candidates.flatMap(({ nvme_serial }) => (nvme_serial ? serialKey(nvme_serial) : []));
  const gpus = candidates.flatMap(({ gpu_serial }) => (gpu_serial ? serialKey(gpu_serial) : []));
  const elsewhere = await sql<Seen>`
    select s.nvme_serial as serial, n.hostname, s.slot_index
      from node_resource_slots s join nodes n on n.id = s.node_id
      where upper(btrim(s.nvme_serial)) = any(${disks}) and s.node_id <> ${nodeId} and s.state <> 'disabled'
    union all
    select s.gpu_serial, n.hostname, s.slot_index
      from node_resource_slots s join nodes n on n.id = s.node_id
      where upper(btrim(s.gpu_serial)) = any(${gpus}) and s.node_id <> ${nodeId} and s.state <> 'disabled'`.execute(
    db,
  );
  const unproven = await sql<Seen & { certificate: string | null; verified: boolean | null }>`
    select device.serial, n.hostname, s.slot_index, last.id as certificate, last.verified
      from (select kind, serial from unproven_devices
              where certificate_id is null
                and (kind = 'disk' and serial = any(${disks}) or kind = 'gpu' and serial = any(${gpus}))
            union select 'disk', serial from unnest(${disks}::text[]) as serial) as device
        left join unproven_devices u
          on u.kind = device.kind and u.serial = device.serial and u.certificate_id is null
        left join lateral (
          select w.id, w.slot_id, w.verified from wipe_certificates w
          where upper(btrim(w.device_serial)) = device.serial
          order by w.recorded_at desc, w.id desc limit 1) as last on true
        join node_resource_slots s on s.id = coalesce(u.slot_id, last.slot_id)
        join nodes n on n.id = s.node_id
      where u.serial is not null or not last.verified`.execute(db);
  return {
    elsewhere: new Map(elsewhere.rows.map((row) => [serialKey(row.serial), placeOf(row)])),
    unproven: new Map(
      unproven.rows.map((row) => [
        row.serial,
        `was last leased in ${placeOf(row)} and ${certificateOf(row)}; record a witnessed wipe of it there first`,
      ]),
    ),
  };
}

function placeOf({ slot_index, hostname }: Seen): string {
  return `slot ${slot_index} of ${hostname}`;
}

function certificateOf({ certificate, verified }: { certificate: string | null; verified: boolean | null }) {
  if (certificate === null) return 'has no wipe certificate';
  return verified
    ? `has no certificate since (the last one is ${certificate})`
    : `its last certificate, ${certificate}, is not verified`;
}
