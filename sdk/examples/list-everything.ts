/** Lists every allocation of every project, however many pages there are. */
import { createGpuaasClient } from '@gpuaas/sdk/client';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';

const client = createGpuaasClient({
  baseUrl: process.env['GPUAAS_URL']!,
  apiKey: process.env['GPUAAS_API_KEY']!,
});

const { organizations } = await unwrap(client.GET('/api/v1/me'));
for (const { id, name } of organizations.flatMap((organization) => organization.projects)) {
  const allocations = paginate((page) =>
    unwrap(client.GET('/api/v1/allocations', { params: { query: { project_id: id, limit: 1, ...page } } })),
  );
  for await (const allocation of allocations) console.log(name, allocation.name, allocation.state);
}
