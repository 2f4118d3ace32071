import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { TaskError } from '../../../tasks/task-error.ts';
import type { HostFiles } from '../host-files.ts';

/** Tells the kernel something about a device. A path below `/sys` that is not there refuses, it is never made. */
export type WriteAttribute = (path: string, value: string) => Promise<void>;

/** The kernel's view of devices, to read and to change. */
export interface Sysfs {
  files: HostFiles;
  write: WriteAttribute;
}

/** A driver that does not let go holds the writer for ever; nobody else shall wait for it as long. */
const WRITE_MS = 60_000;

export function writeBelow(root: string): WriteAttribute {
  return async (path, value) => {
    // Without O_CREAT and O_TRUNC: some attributes can only be written, and none can be made.
    const file = await open(join(root, path), constants.O_WRONLY);
    const writing = file.writeFile(value).finally(() => file.close());
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('the kernel does not answer')), WRITE_MS);
    });
    try {
      await Promise.race([writing, late]);
    } finally {
      clearTimeout(timer);
      writing.catch(() => undefined);
    }
  };
}

/** Writes, and says in the agent's words what the kernel would not do. */
export async function tell({ write }: Sysfs, code: string, path: string, value: string): Promise<void> {
  try {
    await write(path, value);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new TaskError(code, `the kernel refuses ${JSON.stringify(value.trim())} in ${path}: ${reason}`);
  }
}

export function deviceFolder(address: string): string {
  return `/sys/bus/pci/devices/${address}`;
}
