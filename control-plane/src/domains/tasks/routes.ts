import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { getTask } from './get-task.ts';
import { listTasks } from './list-tasks.ts';

type TaskOperations = Pick<operations, 'listNodeTasks' | 'getNodeTask'>;

/** Node tasks for operators. */
export function taskRoutes({ clock }: Services): Handlers<TaskOperations, Caller> {
  return {
    async listNodeTasks({ caller, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return { status: 200, body: await read((tx) => listTasks(tx, clock.now(), query)) };
    },
    async getNodeTask({ caller, params, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return { status: 200, body: await read((tx) => getTask(tx, clock.now(), params.task_id)) };
    },
  };
}
