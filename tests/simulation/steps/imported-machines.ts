import { expect } from 'vitest';
import { eventually } from '../../harness/eventually.ts';
import { ask } from '../../harness/fleet/fleet.ts';
import type { LifecycleWorld } from '../lifecycle/lifecycle-world.ts';

/** An operator imports a machine of MAAS; answers the id of its onboarding. */
export async function importMachine(
  { api }: LifecycleWorld,
  systemId: string,
  profile: 'slice_vm' | 'baremetal',
): Promise<string> {
  const path = `/maas/machines/${systemId}/import`;
  const answer = await ask<{ id: string }>(api, 'operator', 'POST', path, { profile, region: 'uae-north-1' });
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return answer.body.id;
}

/** No onboarding is running, and hosts have finished their tasks. */
export async function hostsInstalled({ api }: LifecycleWorld, timeoutMs: number): Promise<void> {
  const { db } = api.services;
  await eventually(
    'machines to be installed, and hosts to answer',
    async () => {
      const running = await db
        .selectFrom('node_onboardings')
        .select('id')
        .where('state', '=', 'running')
        .execute();
      const asked = await db
        .selectFrom('node_tasks')
        .select('id')
        .where('state', 'in', ['queued', 'claimed'])
        .execute();
      return running.length + asked.length === 0 ? true : null;
    },
    timeoutMs,
  );
}
