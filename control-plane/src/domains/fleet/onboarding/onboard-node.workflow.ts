import type { Services } from '../../../platform/services.ts';
import { sleep, step, type WorkflowDefinition } from '../../../platform/workflows/definition.ts';
import { endOnboarding } from './end-onboarding.ts';
import { returnMachine, type ReturnResult } from './return-machine.ts';
import { STEPS, type ScriptSets, type StepName } from './plan-step.ts';
import type { FleetServices } from '../needs.ts';
import { runStep, type StepResult, type StepRun } from './run-step.ts';

interface Input {
  onboardingId: string;
  correlationId: string;
}

/**
 * Brings a MAAS machine into the fleet: tag, commission, test, allocate, deploy, wait for the agent, discover
 * the topology. Each step polls and acts until it is done, fails or times out; after a failure the machine
 * returns to MAAS.
 */
export const onboardNodeWorkflow: WorkflowDefinition<FleetServices, Input> = {
  name: 'node.onboard',
  deadlineSeconds: ({ policies }) => 1.25 * (STEPS.length + 1) * policies.get('fleet.maas_deadline_seconds'),
  steps: [...STEPS.map((name) => `onboard.${name}`), 'onboard.give_back', 'onboard.end'],
  async run(services, { onboardingId }) {
    let sets: ScriptSets = { commissioningSet: null, testingSet: null };
    for (const name of STEPS) {
      const result = await reach(services, onboardingId, name, sets);
      if (result.kind !== 'done') {
        const detail = result.kind === 'failed' ? result.detail : 'An operator cancelled it.';
        const undone = await wayBack(services, onboardingId);
        const end = { state: result.kind, detail, undone };
        return await step('onboard.end', () => endOnboarding(services, onboardingId, end));
      }
      sets = result.sets ?? sets;
    }
    await step('onboard.end', () => endOnboarding(services, onboardingId, { state: 'succeeded' }));
  },
};

export function onboardingWorkflowId(onboardingId: string): string {
  return `onboard:${onboardingId}`;
}

async function reach(
  services: FleetServices,
  onboardingId: string,
  name: StepName,
  before: ScriptSets,
): Promise<Exclude<StepResult, { kind: 'waiting' }>> {
  const workflowId = onboardingWorkflowId(onboardingId);
  let since: string | null = null;
  for (;;) {
    const run: StepRun = { onboardingId, workflowId, before, since };
    const result: StepResult = await step(`onboard.${name}`, (): Promise<StepResult> =>
      runStep(services, name, run),
    );
    if (result.kind !== 'waiting') return result;
    since ??= result.at;
    await sleep(`onboard.${name}.pause`, result.pauseSeconds);
  }
}

async function wayBack(services: Services, onboardingId: string): Promise<boolean> {
  let since: string | null = null;
  for (;;) {
    const from: string | null = since;
    const result: ReturnResult = await step('onboard.give_back', (): Promise<ReturnResult> =>
      returnMachine(services, onboardingId, from),
    );
    if (result.kind === 'ended') return result.undone;
    since ??= result.at;
    await sleep('onboard.give_back.pause', result.pauseSeconds);
  }
}
