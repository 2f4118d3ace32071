/**
 * Leases a GPU, waits until the machine answers, and releases it: GPUAAS_URL=… GPUAAS_API_KEY=… node
 * launch-and-release.ts
 */
import { createGpuaasClient } from '@gpuaas/sdk/client';
import { ProblemError, unwrap } from '@gpuaas/sdk/problem';

const { GPUAAS_URL, GPUAAS_API_KEY } = process.env;
if (!GPUAAS_URL || !GPUAAS_API_KEY) throw new Error('Set GPUAAS_URL and GPUAAS_API_KEY');

const client = createGpuaasClient({
  baseUrl: GPUAAS_URL,
  apiKey: GPUAAS_API_KEY,
});

try {
  const { organizations } = await unwrap(client.GET('/api/v1/me'));
  const [project] = organizations.flatMap((organization) => organization.projects);
  const { items: images } = await unwrap(client.GET('/api/v1/images'));
  const { id, name } = await unwrap(
    client.POST('/api/v1/allocations', {
      body: {
        project_id: project!.id,
        sku: 'h200-sxm-slice',
        gpu_count: 1,
        image: images[0]!.image,
        region: 'uae-north-1',
      },
    }),
  );
  await until(id, 'active');
  console.log(`${name} is active`);
  await unwrap(
    client.POST('/api/v1/allocations/{allocation_id}/release', { params: { path: { allocation_id: id } } }),
  );
  await until(id, 'released');
  console.log(`${name} is released`);
} catch (error) {
  // Codes are stable; texts are for people.
  if (!(error instanceof ProblemError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
}

async function until(id: string, wanted: string): Promise<void> {
  const params = { path: { allocation_id: id } };
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const { state, failure } = await unwrap(client.GET('/api/v1/allocations/{allocation_id}', { params }));
    if (state === wanted) return;
    if (failure) throw new Error(`${state}: ${failure.detail}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`it never became ${wanted}`);
}
