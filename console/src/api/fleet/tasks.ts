import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import type { TasksSearch } from '../../search-params.ts';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys } from '../query-keys.ts';

export const tasksQuery = (filter: TasksSearch) =>
  pagedQuery([...operatorKeys.tasks, filter], (page, signal) =>
    unwrap(client.GET('/api/v1/admin/tasks', { params: { query: { ...filter, ...page } }, signal })),
  );

export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: [...operatorKeys.tasks, 'one', id],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/admin/tasks/{task_id}', { params: { path: { task_id: id } }, signal })),
  });
