import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { onboardNodeWorkflow, onboardingWorkflowId } from './onboard-node.workflow.ts';
import { STEPS } from './plan-step.ts';
import type { Profile } from './profiles.ts';
import { emitOnboardingChanged } from './record-step.ts';

export interface NewOnboarding {
  systemId: string;
  hostname: string;
  profile: Profile;
  region: string;
  pool: string;
  rack: string;
  nodeFamily: string;
  requestedBy: string;
  correlationId: string;
}

/** Records the purpose of a MAAS machine, and starts its onboarding workflow. Returns its id. */
export async function startOnboarding(services: Services, tx: Tx, machine: NewOnboarding): Promise<string> {
  const { hostname, correlationId } = machine;
  const id = newId();
  await tx
    .insertInto('node_onboardings')
    .values({
      id,
      maas_system_id: machine.systemId,
      hostname,
      profile: machine.profile,
      region: machine.region,
      pool: machine.pool,
      rack: machine.rack,
      node_family: machine.nodeFamily,
      correlation_id: correlationId,
      requested_by: machine.requestedBy,
      requested_at: services.clock.now(),
    })
    .execute();
  await tx
    .insertInto('node_onboarding_steps')
    .values(STEPS.map((step, position) => ({ onboarding_id: id, position, step })))
    .execute();
  await emitOnboardingChanged(tx, { id, hostname, state: 'running', correlation_id: correlationId }, null);
  const input = { onboardingId: id, correlationId };
  await services.workflows.start(tx, onboardNodeWorkflow, onboardingWorkflowId(id), input);
  return id;
}
