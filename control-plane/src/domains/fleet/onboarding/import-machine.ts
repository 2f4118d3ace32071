import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { MaasMachine } from '../../../platform/maas/machine.ts';
import type { FleetServices, LeasesOnHosts } from '../needs.ts';
import { getOnboarding, type NodeOnboarding } from './list-onboardings.ts';
import { importBlocker } from './plan-step.ts';
import { startOnboarding, type NewOnboarding } from './start-onboarding.ts';

/** The host name is MAAS's. */
export type ImportRequest = Omit<NewOnboarding, 'hostname'>;

/** Imports a MAAS machine as a host, unless our records or MAAS's current data rule it out. */
export async function importMachine(
  services: FleetServices,
  tx: Tx,
  machine: MaasMachine,
  request: ImportRequest,
): Promise<NodeOnboarding> {
  const { systemId } = request;
  await requireRegion(tx, request.region);
  await refuseSecond(tx, systemId, machine.hostname);
  const refusal = importBlocker(machine);
  if (refusal !== null) throw new Problem('maas_machine_refused', refusal);
  await refuseStranger(services.leases, tx, systemId, machine.hostname);
  const id = await startOnboarding(services, tx, { ...request, hostname: machine.hostname });
  return await getOnboarding(tx, id);
}

async function requireRegion(tx: Tx, region: string): Promise<void> {
  const row = await tx.selectFrom('regions').select('region').where('region', '=', region).executeTakeFirst();
  if (!row) throw new Problem('region_unavailable', `There is no region ${region}.`);
}

async function refuseSecond(tx: Tx, systemId: string, hostname: string): Promise<void> {
  const running = await tx
    .selectFrom('node_onboardings')
    .select('id')
    .where('state', '=', 'running')
    .where((e) => e.or([e('maas_system_id', '=', systemId), e('hostname', '=', hostname)]))
    .executeTakeFirst();
  if (running) {
    throw new Problem('onboarding_running', 'Wait for the onboarding that is running, or cancel it.', {
      extensions: { onboarding_id: running.id },
    });
  }
}

/** The token is bound to the host name, so a host that already has that name would be replaced. */
async function refuseStranger(
  leases: LeasesOnHosts,
  tx: Tx,
  systemId: string,
  hostname: string,
): Promise<void> {
  const node = await tx
    .selectFrom('nodes')
    .select(['id', 'maas_system_id'])
    .where('hostname', '=', hostname)
    .executeTakeFirst();
  if (!node) return;
  if (node.maas_system_id !== systemId) {
    throw new Problem('maas_machine_refused', `A host named ${hostname} exists that is not this machine.`);
  }
  const claims = await leases.countLiveClaims(tx, node.id);
  if (claims > 0) throw new Problem('node_in_use', `${claims} claims are live on the host.`);
}
