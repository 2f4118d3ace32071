import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createDurable, ensureFolder, readJson, removeDurable } from './durable-file.ts';
import { TaskError } from './tasks/task-error.ts';

export interface SlotLease {
  slot_id: string;
  allocation_id: string;
  taken_at: string;
}

/** Host-local locks on slots' devices: one file per slot, created exclusively. */
export interface SlotLeases {
  /** All or none; answers those that the allocation did not hold before. Repeating it succeeds. */
  take(slotIds: readonly string[], allocationId: string): Promise<string[]>;
  /** Releases only slots that this allocation holds. */
  drop(slotIds: readonly string[], allocationId: string): Promise<void>;
  list(): Promise<SlotLease[]>;
}

export async function openSlotLeases(dir: string): Promise<SlotLeases> {
  const folder = join(dir, 'node-scheduler', 'leases');
  await ensureFolder(folder);
  const fileOf = (slotId: string): string => join(folder, `${slotId}.json`);
  const holderOf = async (slotId: string): Promise<string | null> =>
    (await readJson<SlotLease>(fileOf(slotId)))?.allocation_id ?? null;

  async function takeOne(slotId: string, allocationId: string): Promise<'taken' | 'held'> {
    const lease: SlotLease = {
      slot_id: slotId,
      allocation_id: allocationId,
      taken_at: new Date().toISOString(),
    };
    if (await createDurable(fileOf(slotId), `${JSON.stringify(lease)}\n`)) return 'taken';
    const holder = await holderOf(slotId);
    if (holder === allocationId) return 'held';
    throw new TaskError('slot_leased', `slot ${slotId} is leased by allocation ${holder ?? 'unknown'}`);
  }

  async function drop(slotIds: readonly string[], allocationId: string): Promise<void> {
    for (const slotId of slotIds) {
      if ((await holderOf(slotId)) === allocationId) await removeDurable(fileOf(slotId));
    }
  }

  return {
    async take(slotIds, allocationId) {
      const taken: string[] = [];
      try {
        for (const slotId of [...slotIds].sort()) {
          if ((await takeOne(slotId, allocationId)) === 'taken') taken.push(slotId);
        }
        return taken;
      } catch (error) {
        await drop(taken, allocationId);
        throw error;
      }
    },
    drop,
    async list() {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
      const leases = await Promise.all(names.map((name) => readJson<SlotLease>(join(folder, name))));
      return leases.filter((lease) => lease !== null);
    },
  };
}
