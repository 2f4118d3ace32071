/** Prints events until an allocation is released; resumes after the given last id. */
import { subscribeEvents } from '@gpuaas/sdk/events';

const { GPUAAS_URL, GPUAAS_API_KEY } = process.env;
if (!GPUAAS_URL || !GPUAAS_API_KEY) throw new Error('Set GPUAAS_URL and GPUAAS_API_KEY');

const events = subscribeEvents({
  baseUrl: GPUAAS_URL,
  apiKey: GPUAAS_API_KEY,
  signal: AbortSignal.timeout(10 * 60_000),
  onStatus: (status) => console.error(status),
});

for await (const event of events) {
  console.log(`${event.occurred_at} ${event.event_type}`);
  if (event.event_type === 'allocation.released') break;
}
