import { MaasError } from '../../../platform/maas/maas-error.ts';
import type { Maas } from '../../../platform/maas/maas.ts';
import type { MaasMachine } from '../../../platform/maas/machine.ts';
import type { Services } from '../../../platform/services.ts';
import { isBeingPromoted, requestConversion } from '../conversion/request-conversion.ts';
import type { FleetServices } from '../needs.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { issueTask } from '../../tasks/issue-task.ts';
import { findEnrolledNode, onboardingToken, type OnboardingRow } from './onboarding-token.ts';
import { planStep, type MaasStep, type ScriptSets, type StepName } from './plan-step.ts';
import { PROFILE_TAGS, PROFILES, SCRIPT_PROFILES } from './profiles.ts';
import { recordStep } from './record-step.ts';
import { buildUserData } from './user-data.ts';

/** State of a step after one poll. Slow MAAS operations are polled again after a pause. */
export type StepResult =
  | { kind: 'done'; sets: ScriptSets | null }
  | { kind: 'waiting'; at: string; pauseSeconds: number }
  | { kind: 'failed'; detail: string }
  | { kind: 'cancelled' };

export interface StepRun {
  onboardingId: string;
  workflowId: string;
  before: ScriptSets;
  /** When the step was first polled; null at the first poll. */
  since: string | null;
}

type Progress = { kind: 'done'; sets: ScriptSets | null } | { kind: 'waiting' | 'failed'; detail: string };

/** Polls a step: starts it if needed and returns whether it has finished. Safe to repeat. */
export async function runStep(services: FleetServices, step: StepName, run: StepRun): Promise<StepResult> {
  const { db, clock, policies } = services;
  const row = await db
    .selectFrom('node_onboardings')
    .selectAll()
    .where('id', '=', run.onboardingId)
    .executeTakeFirstOrThrow();
  const nodeId = await findEnrolledNode(services, row);
  // A host that has enrolled stays, even if its onboarding was cancelled meanwhile.
  if (row.cancel_requested_at && nodeId === null) {
    await recordStep(services, row, step, { state: 'failed', message: 'Cancelled' });
    return { kind: 'cancelled' };
  }
  const progress = await progressOf(services, step, { row, nodeId, run });
  if (progress.kind === 'done') {
    await recordStep(services, row, step, { state: 'done', message: null });
    return { kind: 'done', sets: progress.sets };
  }
  const now = clock.now();
  const deadlineSeconds = policies.get('fleet.maas_deadline_seconds');
  const waited = run.since === null ? 0 : now.getTime() - new Date(run.since).getTime();
  if (progress.kind === 'waiting' && waited <= deadlineSeconds * 1000) {
    await recordStep(services, row, step, { state: 'running', message: progress.detail });
    return { kind: 'waiting', at: now.toISOString(), pauseSeconds: policies.get('fleet.maas_poll_seconds') };
  }
  const detail =
    progress.kind === 'failed' ? progress.detail : `Not done after ${deadlineSeconds} s. ${progress.detail}`;
  await recordStep(services, row, step, { state: 'failed', message: detail });
  return { kind: 'failed', detail };
}

interface StepPoll {
  row: OnboardingRow;
  nodeId: string | null;
  run: StepRun;
}

async function progressOf(services: FleetServices, step: StepName, poll: StepPoll): Promise<Progress> {
  if (step === 'enrol') return await adopt(services, poll);
  if (step === 'discover') return await promote(services, poll);
  const { maas } = services;
  if (!maas) return { kind: 'waiting', detail: 'This worker has no MAAS.' };
  try {
    return await withMaas(services, maas, step, poll);
  } catch (error) {
    if (!(error instanceof MaasError)) throw error;
    // A key can be corrected while the onboarding waits; any other refusal by MAAS is final.
    return error.trouble === 'unavailable' || error.trouble === 'unauthorized'
      ? { kind: 'waiting', detail: error.message }
      : { kind: 'failed', detail: error.message };
  }
}

async function withMaas(services: Services, maas: Maas, step: MaasStep, poll: StepPoll): Promise<Progress> {
  const { row, run } = poll;
  const { client } = maas;
  const intent = {
    profile: row.profile,
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
    return {
      kind: 'done',
      sets: { commissioningSet: machine.commissioningSet, testingSet: machine.testingSet },
    };
  }
  if (plan === 'wait' || plan === 'act')
    return { kind: 'waiting', detail: `In MAAS the machine is ${machine.status}.` };
  return { kind: 'failed', detail: `${plan.fail}${await failedScripts(maas, step, machine)}` };
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
      // Tests are a separate step.
      testingScripts: [],
      parameters: { profile: SCRIPT_PROFILES[row.profile] },
      ...(commissioningScripts === null ? {} : { commissioningScripts }),
    }),
  test: (_, { client, deployment }, row) =>
    client.test(row.maas_system_id, deployment.testingScripts ?? undefined),
  allocate: (_, { client }, row) => client.allocate(row.maas_system_id),
  async deploy(services, { client, deployment }, row) {
    const token = await onboardingToken(services, row.id);
    const host = { hostname: row.hostname, profile: row.profile, token };
    const { distroSeries } = deployment;
    await client.deploy(row.maas_system_id, { userData: buildUserData(host, deployment), distroSeries });
  },
};

/** Lists the failed scripts for the operator. */
async function failedScripts({ client }: Maas, step: MaasStep, machine: MaasMachine): Promise<string> {
  if (step !== 'commission' && step !== 'test') return '';
  const results = await client.results(machine.systemId, step === 'test' ? 'testing' : 'commissioning');
  const failed = results.filter(({ exitStatus }) => exitStatus !== null && exitStatus !== 0);
  return failed.length === 0 ? '' : `; failed: ${failed.map(({ name }) => name).join(', ')}`;
}

/** The host has enrolled: links it to this machine and notes its profile. */
async function adopt(services: Services, { row, nodeId }: StepPoll): Promise<Progress> {
  if (nodeId === null)
    return { kind: 'waiting', detail: 'The machine is installed; its agent has not enrolled yet.' };
  await services.db.transaction().execute(async (tx) => {
    const node = await lockNode(tx, nodeId);
    await tx
      .updateTable('nodes')
      .set({
        maas_system_id: row.maas_system_id,
        profile_tags: [...new Set([...node.profile_tags, PROFILE_TAGS[row.profile]])],
      })
      .where('id', '=', nodeId)
      .execute();
    await tx
      .updateTable('node_onboardings')
      .set({ node_id: nodeId, sealed_token: null })
      .where('id', '=', row.id)
      .execute();
  });
  return { kind: 'done', sets: null };
}

/** A new host is promoted: its devices are bound for its profile, then it is checked and discovered. */
async function promote(services: FleetServices, poll: StepPoll): Promise<Progress> {
  const { row, nodeId } = poll;
  if (nodeId === null) return { kind: 'waiting', detail: 'The agent has not enrolled yet.' };
  const isStarted = await services.db.transaction().execute(async (tx) => {
    const node = await lockNode(tx, nodeId);
    if (await isBeingPromoted(tx, nodeId)) return true;
    if (node.mode !== null) return false;
    await requestConversion(services, tx, {
      nodeId,
      mode: row.profile === 'baremetal' ? 'baremetal' : 'slice',
      reason: 'First promotion after its import from MAAS',
      requestedBy: row.requested_by,
      correlationId: row.correlation_id,
    });
    return true;
  });
  return isStarted ? { kind: 'done', sets: null } : await askForTopology(services, poll);
}

async function askForTopology(services: Services, { row, nodeId, run }: StepPoll): Promise<Progress> {
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
  return { kind: 'done', sets: null };
}
