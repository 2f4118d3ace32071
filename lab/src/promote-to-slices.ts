import { setTimeout as pause } from 'node:timers/promises';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';

type Node = components['schemas']['Node'];
type Conversion = components['schemas']['NodeConversion'];

const DEADLINE_MS = 300_000;
const FIRST_POLL_MS = 100;

/** Binds, checks and discovers a host that has no mode yet. */
export async function promoteToSlices(client: GpuaasClient, { id, hostname }: Node): Promise<void> {
  const params = { path: { node_id: id } };
  const { mode } = await unwrap(client.GET('/api/v1/admin/nodes/{node_id}', { params }));
  if (mode !== null) return;
  const body = { mode: 'slice' as const, reason: 'First promotion in the lab' };
  const started = await unwrap(client.POST('/api/v1/admin/nodes/{node_id}/convert', { params, body }));
  const { state, detail } = await awaitEnd(client, started);
  if (state !== 'succeeded')
    throw new Error(`promotion of ${hostname} ${state}: ${detail ?? 'no reason given'}`);
}

async function awaitEnd(client: GpuaasClient, { id, node_id }: Conversion): Promise<Conversion> {
  const end = Date.now() + DEADLINE_MS;
  let wait = FIRST_POLL_MS;
  for (;;) {
    const { items } = await unwrap(
      client.GET('/api/v1/admin/nodes/{node_id}/conversions', { params: { path: { node_id } } }),
    );
    const ended = items.find((one) => one.id === id && one.state !== 'running');
    if (ended) return ended;
    if (Date.now() > end) throw new Error(`promotion ${id} did not end in time`);
    await pause(wait);
    wait = Math.min(wait * 1.5, 3_000);
  }
}
