import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';

interface PortHolder {
  id: string;
  organization_id: string;
  allocation_id: string;
  ports: readonly number[];
}

/** Takes the ports of a member on its machine; refused while another member has one of them. */
export async function takePorts(
  tx: Tx,
  { id, organization_id, allocation_id, ports }: PortHolder,
): Promise<void> {
  if (ports.length === 0) return;
  const taken = await tx
    .insertInto('app_member_ports')
    .values(
      ports
        .toSorted((a, b) => a - b)
        .map((port) => ({ allocation_id, port, member_id: id, organization_id })),
    )
    .onConflict((c) => c.columns(['allocation_id', 'port']).doNothing())
    .returning('port')
    .execute();
  const got = new Set(taken.map(({ port }) => port));
  const busy = ports.filter((port) => !got.has(port));
  if (busy.length === 0) return;
  throw new Problem('app_port_taken', `Another app on the allocation uses port ${busy.join(', ')}.`, {
    extensions: { ports: busy },
  });
}

/** Ports of a machine that members have, among these. */
export async function findTakenPorts(
  tx: Tx,
  allocationIds: readonly string[],
  ports: readonly number[],
): Promise<Map<string, number[]>> {
  if (allocationIds.length === 0 || ports.length === 0) return new Map();
  const rows = await tx
    .selectFrom('app_member_ports')
    .select(['allocation_id', 'port'])
    .where('allocation_id', 'in', allocationIds)
    .where('port', 'in', ports)
    .execute();
  const grouped = Map.groupBy(rows, (row) => row.allocation_id);
  return new Map([...grouped].map(([id, held]) => [id, held.map(({ port }) => port)]));
}
