/** Prints what happens until an allocation is released; goes on where it stopped when it is given the last id. */
import { subscribeEvents } from '@gpuaas/sdk/events';

const events = subscribeEvents({
  baseUrl: process.env['GPUAAS_URL']!,
  apiKey: process.env['GPUAAS_API_KEY']!,
  signal: AbortSignal.timeout(10 * 60_000),
  onStatus: (status) => console.error(status),
});

for await (const event of events) {
  console.log(`${event.occurred_at} ${event.event_type}`);
  if (event.event_type === 'allocation.released') break;
}
