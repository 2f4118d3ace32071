import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { liveClaimsOn } from '../../allocations/allocations-on-node.ts';
import { askMaas } from './ask-maas.ts';
import { getOnboarding, type NodeOnboarding } from './describe-onboarding.ts';
import { onboardNodeWorkflow, onboardingWorkflowId } from './onboard-node.workflow.ts';
import { importRefusal, STEPS } from './plan-step.ts';
import type { Profile } from './profiles.ts';
import { emitOnboardingChanged } from './record-step.ts';

export interface ImportRequest {
  systemId: string;
  profile: Profile;
  region: string;
  pool: string;
  rack: string;
  nodeFamily: string;
  requestedBy: string;
  correlationId: string;
}

/** Writes down that a machine of MAAS shall become a host, and starts the workflow that brings it about. */
export async function importMachine(
  services: Services,
  tx: Tx,
  request: ImportRequest,
): Promise<NodeOnboarding> {
  const { systemId, correlationId } = request;
  const machine = await askMaas(services, (client) => client.machine(systemId));
  await requireRegion(tx, request.region);
  await refuseSecond(tx, systemId, machine.hostname);
  const refusal = importRefusal(machine);
  if (refusal !== null) throw new Problem('maas_machine_refused', refusal);
  await refuseStranger(tx, systemId, machine.hostname);
  const id = newId();
  await tx
    .insertInto('node_onboardings')
    .values({
      id,
      maas_system_id: systemId,
      hostname: machine.hostname,
      profile: request.profile,
      region: request.region,
      pool: request.pool,
      rack: request.rack,
      node_family: request.nodeFamily,
      correlation_id: correlationId,
      requested_by: request.requestedBy,
      requested_at: services.clock.now(),
    })
    .execute();
  await tx
    .insertInto('node_onboarding_steps')
    .values(STEPS.map((step, position) => ({ onboarding_id: id, position, step })))
    .execute();
  const about = { id, hostname: machine.hostname, state: 'running', correlation_id: correlationId };
  await emitOnboardingChanged(tx, about, null);
  const input = { onboardingId: id, correlationId };
  await services.workflows.start(tx, onboardNodeWorkflow.name, onboardingWorkflowId(id), input);
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
