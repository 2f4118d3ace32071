/** Lists every allocation of every project, however many pages there are. */
import { createGpuaasClient } from '@gpuaas/sdk/client';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';

const { GPUAAS_URL, GPUAAS_API_KEY } = process.env;
if (!GPUAAS_URL || !GPUAAS_API_KEY) throw new Error('Set GPUAAS_URL and GPUAAS_API_KEY');

const client = createGpuaasClient({
  baseUrl: GPUAAS_URL,
  apiKey: GPUAAS_API_KEY,
});

const { organizations } = await unwrap(client.GET('/api/v1/me'));
for (const { id, name } of organizations.flatMap((organization) => organization.projects)) {
  const allocations = paginate((page) =>
    unwrap(client.GET('/api/v1/allocations', { params: { query: { project_id: id, limit: 1, ...page } } })),
  );
  for await (const allocation of allocations) console.log(name, allocation.name, allocation.state);
}
