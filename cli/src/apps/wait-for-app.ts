import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { pollUntil } from '../poll-until.ts';
import type { Session } from '../session.ts';

export type AppInstance = components['schemas']['AppInstance'];

const ENDED: ReadonlySet<string> = new Set(['stopped', 'failed', 'succeeded']);

export function hasEnded({ status }: Pick<AppInstance, 'status'>): boolean {
  return ENDED.has(status);
}

/** Waits until an instance runs, or has ended. A job that has succeeded counts as started. */
export async function waitForApp(
  { client }: Pick<Session, 'client'>,
  { id }: Pick<AppInstance, 'id'>,
  until: 'started' | 'ended',
): Promise<AppInstance> {
  const app = await pollUntil({
    poll: () =>
      unwrap(
        client.GET('/api/v1/app-instances/{app_instance_id}', { params: { path: { app_instance_id: id } } }),
      ),
    isSettled: (instance) => hasEnded(instance) || (until === 'started' && instance.status === 'running'),
    goesOn: `It goes on: gpuaas apps logs ${id}`,
  });
  if (app.status === 'failed') throw new Error(`failed: ${app.reason ?? 'no reason given'} (${id})`);
  return app;
}
