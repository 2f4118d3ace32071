import { join } from 'node:path';
import { createDurable, ensureFolder, readJson, removeDurable } from './durable-file.ts';
import { TaskError } from './tasks/task-error.ts';

interface Held {
  allocation_id: string;
  taken_at: string;
}

/** Host-local lock on the whole machine: one file, created exclusively. */
export interface HostLease {
  /** Repeating it for the same allocation succeeds. */
  take(allocationId: string): Promise<void>;
  /** Has no effect when another allocation holds the lock. */
  drop(allocationId: string): Promise<void>;
  holder(): Promise<string | null>;
  /** Slices have no place on a host that is leased as a whole. */
  refuseIfHeld(): Promise<void>;
}

export async function openHostLease(dir: string): Promise<HostLease> {
  const folder = join(dir, 'node-scheduler');
  await ensureFolder(folder);
  const file = join(folder, 'host-lease.json');
  const holder = async (): Promise<string | null> => (await readJson<Held>(file))?.allocation_id ?? null;
  const refused = (by: string): TaskError =>
    new TaskError('slot_leased', `this host is leased as a whole by allocation ${by}`);
  return {
    holder,
    async take(allocationId) {
      const held: Held = { allocation_id: allocationId, taken_at: new Date().toISOString() };
      if (await createDurable(file, `${JSON.stringify(held)}\n`)) return;
      const current = await holder();
      if (current !== allocationId) throw refused(current ?? 'unknown');
    },
    async drop(allocationId) {
      if ((await holder()) === allocationId) await removeDurable(file);
    },
    async refuseIfHeld() {
      const current = await holder();
      if (current !== null) throw refused(current);
    },
  };
}
