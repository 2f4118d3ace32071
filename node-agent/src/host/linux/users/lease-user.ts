import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder, readJson, removeDurable, writeDurable } from '../../../durable-file.ts';

/** The tenant of the whole host, recorded until no trace of it is found: its uid outlives its name. */
export interface LeaseUser {
  allocation_id: string;
  username: string;
  uid: number;
  started_at: string;
  /** Taken before the login was created. */
  since: string;
}

export interface LeaseUsers {
  list(): Promise<LeaseUser[]>;
  find(allocationId: string): Promise<LeaseUser | null>;
  keep(user: LeaseUser): Promise<void>;
  forget(allocationId: string): Promise<void>;
}

export function openLeaseUsers(dir: string): LeaseUsers {
  const folder = join(dir, 'users');
  const fileOf = (allocationId: string): string => join(folder, `${allocationId}.json`);
  return {
    async list() {
      await ensureFolder(folder);
      const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
      const users = await Promise.all(names.map((name) => readJson<LeaseUser>(join(folder, name))));
      return users.filter((user) => user !== null);
    },
    find: (allocationId) => readJson<LeaseUser>(fileOf(allocationId)),
    async keep(user) {
      await ensureFolder(folder);
      await writeDurable(fileOf(user.allocation_id), `${JSON.stringify(user)}\n`);
    },
    async forget(allocationId) {
      await ensureFolder(folder);
      await removeDurable(fileOf(allocationId));
    },
  };
}
