import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { pollUntil } from '../poll-until.ts';
import type { Session } from '../session.ts';

type Task = components['schemas']['NodeTask'];

const OVER: ReadonlySet<Task['state']> = new Set(['succeeded', 'failed', 'expired']);

/** Waits for a host's task. */
export async function waitForTask({ client }: Pick<Session, 'client'>, id: string): Promise<Task> {
  const params = { path: { task_id: id } };
  const task = await pollUntil({
    poll: async () => (await unwrap(client.GET('/api/v1/admin/tasks/{task_id}', { params }))).task,
    isSettled: ({ state }) => OVER.has(state),
    goesOn: `The task continues: gpuaas admin tasks get ${id}`,
  });
  if (task.state !== 'succeeded')
    throw new Error(`${task.kind} ${task.state}: ${task.error?.detail ?? 'no reason given'}`);
  return task;
}
