import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import type { MaasMachine } from '../../../platform/maas/machine.ts';
import { importBlocker } from './plan-step.ts';
import { profileOf } from './profiles.ts';

type Described = components['schemas']['MaasMachine'];

/** A page of MAAS machines, with the host or onboarding of each. */
export async function listMachines(
  tx: Db | Tx,
  machines: readonly MaasMachine[],
  query: { limit: number; page?: string },
): Promise<Page<Described>> {
  const after = decodePage(query.page, ['text', 'text']);
  const key = ({ hostname, systemId }: MaasMachine): [string, string] => [hostname, systemId];
  const rows = machines
    .toSorted((a, b) => compare(key(a), key(b)))
    .filter((machine) => after === null || compare(key(machine), after) > 0)
    .slice(0, query.limit + 1);
  const page = toPage(rows, query.limit, key);
  const { nodes, onboardings } = await knownHere(
    tx,
    page.rows.map(({ systemId }) => systemId),
  );
  const items = page.rows.map((machine) =>
    describe(machine, {
      nodeId: nodes.get(machine.systemId) ?? null,
      onboardingId: onboardings.get(machine.systemId) ?? null,
    }),
  );
  return { items, next_page: page.next_page };
}

function compare(a: [string, string], b: [string, string]): number {
  const [left, right] = [a.join('\0'), b.join('\0')];
  return left < right ? -1 : left > right ? 1 : 0;
}

async function knownHere(tx: Db | Tx, systemIds: string[]) {
  if (systemIds.length === 0)
    return { nodes: new Map<string, string>(), onboardings: new Map<string, string>() };
  const nodes = await tx
    .selectFrom('nodes')
    .select(['id', 'maas_system_id'])
    .where('maas_system_id', 'in', systemIds)
    .execute();
  const running = await tx
    .selectFrom('node_onboardings')
    .select(['id', 'maas_system_id'])
    .where('maas_system_id', 'in', systemIds)
    .where('state', '=', 'running')
    .execute();
  return {
    nodes: new Map(nodes.map(({ id, maas_system_id }) => [maas_system_id!, id])),
    onboardings: new Map(running.map(({ id, maas_system_id }) => [maas_system_id, id])),
  };
}

function describe(
  machine: MaasMachine,
  { nodeId, onboardingId }: { nodeId: string | null; onboardingId: string | null },
): Described {
  return {
    system_id: machine.systemId,
    hostname: machine.hostname,
    status: machine.status,
    status_message: machine.statusMessage.slice(0, 500),
    owner: machine.owner,
    tags: machine.tags.slice(0, 500),
    profile: profileOf(machine.tags),
    power_state: machine.powerState,
    architecture: machine.architecture,
    cpu_count: machine.cpuCount,
    memory_mib: machine.memoryMib,
    pool: machine.pool,
    zone: machine.zone,
    vendor: machine.vendor,
    product: machine.product,
    serial: machine.serial,
    node_id: nodeId,
    onboarding_id: onboardingId,
    import_refusal: onboardingId === null ? importBlocker(machine) : 'It is on its way already.',
  };
}
