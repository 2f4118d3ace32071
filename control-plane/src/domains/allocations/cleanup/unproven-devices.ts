import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { sql } from 'kysely';
import { first } from '../../../platform/present.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { serialKey } from '../../fleet/disks/serial-key.ts';

export interface UnprovenDevice {
  kind: 'disk' | 'gpu';
  serial: string;
  allocation_id: string;
  slot_index: number;
}

/** Keeps the disk and the GPU of a slot that is given up out of every other slot until somebody proves them clean. */
export async function noteUnprovenDevices(
  tx: Tx,
  { slotId, allocationId, sold, now }: { slotId: string; allocationId: string; sold: SlotBundle; now: Date },
): Promise<void> {
  await sql`
    insert into unproven_devices (kind, serial, slot_id, allocation_id, slot_index, since)
    select device.kind, upper(btrim(device.serial)), s.id, ${allocationId}, s.slot_index, ${now}
      from node_resource_slots s
        cross join lateral (values ('disk', ${sold.nvme_serial}::text), ('gpu', s.gpu_serial)) as device (kind, serial)
      where s.id = ${slotId} and device.serial is not null
        and not exists (select from wipe_certificates w
          where upper(btrim(w.device_serial)) = upper(btrim(device.serial)) and w.allocation_id = ${allocationId} and w.verified
            and not exists (select from wipe_certificates later
              where upper(btrim(later.device_serial)) = upper(btrim(w.device_serial))
                and later.recorded_at > w.recorded_at))
    on conflict (kind, serial) do update set slot_id = excluded.slot_id, allocation_id = excluded.allocation_id,
      slot_index = excluded.slot_index, since = excluded.since, certificate_id = null`.execute(tx);
}

/** Which of these devices, by the keys of their serials, the allocation left without a verified certificate that is the newest of the device. */
export async function unprovenOf(
  tx: Tx,
  allocationId: string,
  serials: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ serial: string }>`
    select device.serial from unnest(${serials}::text[]) with ordinality as device (serial, place)
      where not coalesce((select w.verified and w.allocation_id = ${allocationId} from wipe_certificates w
        where upper(btrim(w.device_serial)) = device.serial order by w.recorded_at desc, w.id desc limit 1), false)
      order by device.place`.execute(tx);
  return rows.map(({ serial }) => serial);
}

/** The newest verified certificate that a device has from an allocation. */
export async function newestCertificate(tx: Tx, allocationId: string, serial: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select id from wipe_certificates
      where upper(btrim(device_serial)) = ${serialKey(serial)} and allocation_id = ${allocationId} and verified
      order by recorded_at desc, id desc limit 1`.execute(tx);
  return first(rows, 'row of the statement').id;
}

/** What was given up with a slot and is not proven clean yet, locked. */
export async function unprovenDevicesOf(tx: Tx, slotId: string): Promise<UnprovenDevice[]> {
  return await tx
    .selectFrom('unproven_devices')
    .select(['kind', 'serial', 'allocation_id', 'slot_index'])
    .where('slot_id', '=', slotId)
    .where('certificate_id', 'is', null)
    .orderBy('kind')
    .forUpdate()
    .execute();
}

export async function markProven(
  tx: Tx,
  { kind, serial }: Pick<UnprovenDevice, 'kind' | 'serial'>,
  certificateId: string,
): Promise<void> {
  await tx
    .updateTable('unproven_devices')
    .set({ certificate_id: certificateId })
    .where('kind', '=', kind)
    .where('serial', '=', serial)
    .execute();
}
