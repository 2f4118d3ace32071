import { MaasError } from '../../../platform/maas/maas-error.ts';
import type { Maas } from '../../../platform/maas/maas.ts';
import type { MaasMachine } from '../../../platform/maas/machine.ts';
import type { Services } from '../../../platform/services.ts';
import { lockNode } from '../lock-node.ts';
import { issueTask } from '../issue-task.ts';
import { enrolledNode, tokenOf, type OnboardingRow } from './enrolment-of.ts';
import { planStep, type MaasStep, type ScriptSets, type StepName } from './plan-step.ts';
import { PROFILE_TAGS, PROFILES, SCRIPT_PROFILES, type Profile } from './profiles.ts';
import { recordStep } from './record-step.ts';
import { userData } from './user-data.ts';

/** How far a step is after one look. What MAAS takes long for is looked at again after a pause. */
export type StepResult =
  | { kind: 'done'; sets: ScriptSets | null }
  | { kind: 'waiting'; at: string; pauseSeconds: number }
  | { kind: 'failed'; detail: string }
  | { kind: 'cancelled' };

export interface StepRun {
  onboardingId: string;
  workflowId: string;
  before: ScriptSets;
  /** When the step was first looked at; null at the first look. */
  since: string | null;
}

type Progress = { done: ScriptSets | null } | { waiting: string } | { failed: string };

/** One look at a step: asks for what is not under way yet, and says whether it is done. It may be taken again at any time. */
export async function takeStep(services: Services, step: StepName, run: StepRun): Promise<StepResult> {
  const { db, clock, policies } = services;
  const row = await db
    .selectFrom('node_onboardings')
    .selectAll()
    .where('id', '=', run.onboardingId)
    .executeTakeFirstOrThrow();
  const nodeId = await enrolledNode(services, row);
  // A host that has enrolled is there, whatever was wished meanwhile.
  if (row.cancel_requested_at && nodeId === null) {
    await recordStep(services, row, step, { state: 'failed', message: 'Cancelled' });
    return { kind: 'cancelled' };
  }
  const progress = await progressOf(services, step, { row, nodeId, run });
  if ('done' in progress) {
    await recordStep(services, row, step, { state: 'done', message: null });
    return { kind: 'done', sets: progress.done };
  }
  const now = clock.now();
  const deadlineSeconds = policies.get('fleet.maas_deadline_seconds');
  const waited = run.since === null ? 0 : now.getTime() - new Date(run.since).getTime();
  if ('waiting' in progress && waited <= deadlineSeconds * 1000) {
    await recordStep(services, row, step, { state: 'running', message: progress.waiting });
    return { kind: 'waiting', at: now.toISOString(), pauseSeconds: policies.get('fleet.maas_poll_seconds') };
  }
  const detail =
    'failed' in progress ? progress.failed : `Not done after ${deadlineSeconds} s. ${progress.waiting}`;
  await recordStep(services, row, step, { state: 'failed', message: detail });
  return { kind: 'failed', detail };
}

interface Look {
  row: OnboardingRow;
  nodeId: string | null;
  run: StepRun;
}

async function progressOf(services: Services, step: StepName, look: Look): Promise<Progress> {
  if (step === 'enrol') return await adopt(services, look);
  if (step === 'discover') return await askForTopology(services, look);
  const { maas } = services;
  if (!maas) return { waiting: 'This worker has no MAAS.' };
  try {
    return await withMaas(services, maas, step, look);
  } catch (error) {
    if (!(error instanceof MaasError)) throw error;
    // A key can be put right while the onboarding waits; what MAAS has understood and refused stays refused.
    return error.trouble === 'unavailable' || error.trouble === 'unauthorized'
      ? { waiting: error.message }
      : { failed: error.message };
  }
}

async function withMaas(services: Services, maas: Maas, step: MaasStep, look: Look): Promise<Progress> {
  const { row, run } = look;
  const { client } = maas;
  const intent = {
    profile: row.profile as Profile,
    user: await client.whoAmI(),
    before: run.before,
  };
  let machine = await client.machine(row.maas_system_id);
  let plan = planStep(step, machine, intent);
  if (plan === 'act') {
    await ACTIONS[step](services, maas, row);
    machine = await client.machine(row.maas_system_id);
    plan = planStep(step, machine, intent);
  }
  if (plan === 'finish') {
    return { done: { commissioningSet: machine.commissioningSet, testingSet: machine.testingSet } };
  }
  if (plan === 'wait' || plan === 'act') return { waiting: `In MAAS the machine is ${machine.status}.` };
  return { failed: `${plan.fail}${await failedScripts(maas, step, machine)}` };
}

const ACTIONS: Record<MaasStep, (services: Services, maas: Maas, row: OnboardingRow) => Promise<unknown>> = {
  async tag(_, { client }, row) {
    for (const profile of PROFILES) {
      if (profile === row.profile) await client.tag(row.maas_system_id, PROFILE_TAGS[profile]);
      else await client.untag(row.maas_system_id, PROFILE_TAGS[profile]);
    }
  },
  commission: (_, { client, deployment: { commissioningScripts } }, row) =>
    client.commission(row.maas_system_id, {
      // Tests are a step of their own.
      testingScripts: [],
      parameters: { profile: SCRIPT_PROFILES[row.profile as Profile] },
      ...(commissioningScripts === null ? {} : { commissioningScripts }),
    }),
  test: (_, { client, deployment }, row) =>
    client.test(row.maas_system_id, deployment.testingScripts ?? undefined),
  allocate: (_, { client }, row) => client.allocate(row.maas_system_id),
  async deploy(services, { client, deployment }, row) {
    const token = await tokenOf(services, row.id);
    const host = { hostname: row.hostname, profile: row.profile as Profile, token };
    const { distroSeries } = deployment;
    await client.deploy(row.maas_system_id, { userData: userData(host, deployment), distroSeries });
  },
};

/** Names the scripts that failed, which is what an operator looks for next. */
async function failedScripts({ client }: Maas, step: MaasStep, machine: MaasMachine): Promise<string> {
  if (step !== 'commission' && step !== 'test') return '';
  const results = await client.results(machine.systemId, step === 'test' ? 'testing' : 'commissioning');
  const failed = results.filter(({ exitStatus }) => exitStatus !== null && exitStatus !== 0);
  return failed.length === 0 ? '' : `; failed: ${failed.map(({ name }) => name).join(', ')}`;
}

/** The host has enrolled: it is this machine, and made for this profile. */
async function adopt(services: Services, { row, nodeId }: Look): Promise<Progress> {
  if (nodeId === null) return { waiting: 'The machine is installed; its agent has not enrolled yet.' };
  await services.db.transaction().execute(async (tx) => {
    const node = await lockNode(tx, nodeId);
    await tx
      .updateTable('nodes')
      .set({
        maas_system_id: row.maas_system_id,
        mode: row.profile === 'baremetal' ? 'baremetal' : 'slice',
        profile_tags: [...new Set([...node.profile_tags, PROFILE_TAGS[row.profile as Profile]])],
      })
      .where('id', '=', nodeId)
      .execute();
    await tx
      .updateTable('node_onboardings')
      .set({ node_id: nodeId, sealed_token: null })
      .where('id', '=', row.id)
      .execute();
  });
  return { done: null };
}

async function askForTopology(services: Services, { row, nodeId, run }: Look): Promise<Progress> {
  const seconds = services.policies.get('fleet.discovery_deadline_seconds');
  await services.db.transaction().execute((tx) =>
    issueTask(tx, {
      nodeId: nodeId!,
      kind: 'slice.topology_discover',
      params: {},
      correlationId: row.correlation_id,
      workflowId: run.workflowId,
      dedupeKey: `${run.workflowId}:discover`,
      expiresAt: new Date(services.clock.now().getTime() + seconds * 1000),
    }),
  );
  return { done: null };
}
