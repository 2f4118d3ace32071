import { chmod, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Where root keeps what the service user must reach but cannot reach in its usual place. */
export const SHARED_ROOT = '/var/lib/gpuaas/postgres';

export async function makeSharedRoot(): Promise<void> {
  await mkdir(SHARED_ROOT, { recursive: true });
  // Explicit, because the umask may have taken the x bits away.
  await chmod(dirname(SHARED_ROOT), 0o755);
  await chmod(SHARED_ROOT, 0o755);
}
