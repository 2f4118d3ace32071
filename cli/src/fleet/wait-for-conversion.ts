import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { pollUntil } from '../poll-until.ts';
import type { Session } from '../session.ts';

type Conversion = components['schemas']['NodeConversion'];

/** Waits until a host is in its new mode. */
export async function waitForConversion(
  { client }: Pick<Session, 'client'>,
  { id, node_id }: Conversion,
): Promise<Conversion> {
  const path = { node_id };
  const ended = await pollUntil({
    poll: async () => {
      const page = await unwrap(
        client.GET('/api/v1/admin/nodes/{node_id}/conversions', { params: { path } }),
      );
      return page.items.find((one) => one.id === id);
    },
    isSettled: (conversion) => conversion !== undefined && conversion.state !== 'running',
    goesOn: `The conversion continues: gpuaas admin nodes conversions list ${node_id}`,
  });
  if (ended?.state !== 'succeeded')
    throw new Error(`conversion ${ended?.state}: ${ended?.detail ?? 'no reason given'}`);
  return ended;
}
