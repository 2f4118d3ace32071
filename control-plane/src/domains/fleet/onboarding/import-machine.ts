import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { MaasMachine } from '../../../platform/maas/machine.ts';
import type { Services } from '../../../platform/services.ts';
import { liveClaimsOn } from '../../allocations/allocations-on-node.ts';
import { getOnboarding, type NodeOnboarding } from './describe-onboarding.ts';
import { importRefusal } from './plan-step.ts';
import { startOnboarding, type NewOnboarding } from './start-onboarding.ts';

/** The host name is MAAS's. */
export type ImportRequest = Omit<NewOnboarding, 'hostname'>;

/** A machine of MAAS shall become a host, if nothing speaks against it: neither here nor in what MAAS said just now. */
export async function importMachine(
  services: Services,
  tx: Tx,
  machine: MaasMachine,
  request: ImportRequest,
): Promise<NodeOnboarding> {
  const { systemId } = request;
  await requireRegion(tx, request.region);
  await refuseSecond(tx, systemId, machine.hostname);
  const refusal = importRefusal(machine);
  if (refusal !== null) throw new Problem('maas_machine_refused', refusal);
  await refuseStranger(tx, systemId, machine.hostname);
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

/** The token is bound to the host name, so whoever has that name already would be replaced. */
async function refuseStranger(tx: Tx, systemId: string, hostname: string): Promise<void> {
  const node = await tx
    .selectFrom('nodes')
    .select(['id', 'maas_system_id'])
    .where('hostname', '=', hostname)
    .executeTakeFirst();
  if (!node) return;
  if (node.maas_system_id !== systemId) {
    throw new Problem('maas_machine_refused', `A host named ${hostname} exists that is not this machine.`);
  }
  const claims = await liveClaimsOn(tx, node.id);
  if (claims > 0) throw new Problem('node_in_use', `${claims} claims are live on the host.`);
}
