import { unwrap } from '@gpuaas/sdk/problem';
import type { Session } from '../session.ts';

const WAIT_SECONDS = 20;

/** Writes the log of an instance from its begin; with `follow` until it is complete. */
export async function writeLog(
  { client }: Pick<Session, 'client'>,
  id: string,
  { follow, write }: { follow: boolean; write: (text: string) => void },
): Promise<void> {
  for (let offset = 0; ;) {
    const part = await unwrap(
      client.GET('/api/v1/app-instances/{app_instance_id}/logs', {
        params: {
          path: { app_instance_id: id },
          query: { offset, ...(follow ? { wait_seconds: WAIT_SECONDS } : {}) },
        },
      }),
    );
    write(part.content);
    if (part.complete || (!follow && part.content === '')) return;
    offset = part.next_offset;
  }
}
