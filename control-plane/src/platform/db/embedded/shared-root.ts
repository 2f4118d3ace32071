import { chmod, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Folder of root for files that the service user cannot reach in their usual place. */
export const SHARED_ROOT = '/var/lib/gpuaas/postgres';

export async function createSharedRoot(): Promise<void> {
  await mkdir(SHARED_ROOT, { recursive: true });
  // Explicit, because the umask may have removed the x bits.
  await chmod(dirname(SHARED_ROOT), 0o755);
  await chmod(SHARED_ROOT, 0o755);
}
