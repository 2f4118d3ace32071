import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { TaskError } from '../../../tasks/task-error.ts';
import type { HostFiles } from '../host-files.ts';

/** Writes an attribute of a device. A missing path below `/sys` is an error; it is never created. */
export type WriteAttribute = (path: string, value: string) => Promise<void>;

/** The kernel's view of devices, to read and to change. */
export interface Sysfs {
  files: HostFiles;
  write: WriteAttribute;
}

/**
 * A driver that does not release a device blocks the writer indefinitely; callers must not wait that long.
 */
const WRITE_MS = 60_000;

export function writeBelow(root: string): WriteAttribute {
  return async (path, value) => {
    // Without O_CREAT and O_TRUNC: some attributes are write-only, and none can be created.
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

/** Writes the attribute; reports the kernel's refusal as a task error. */
export async function writeSysfs({ write }: Sysfs, code: string, path: string, value: string): Promise<void> {
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
