import { step, type WorkflowDefinition } from '../../../platform/workflows/definition.ts';
import { beginEnding } from '../instances/begin-ending.ts';
import { lockInstance, moveInstance } from '../instances/move-instance.ts';
import { recordAppEvent } from '../instances/record-event.ts';
import { START_WORKFLOW, type InstanceInput } from '../instances/workflow-names.ts';
import { awaitReady } from './await-ready.ts';
import type { RuntimeServices } from './runtime-services.ts';
import { startMembers } from './start-members.ts';
import type { StartOutcome } from './start-outcome.ts';

/** The longest readiness that a manifest may ask for. */
const LONGEST_READINESS = 1800;

export const appStartWorkflow: WorkflowDefinition<RuntimeServices, InstanceInput> = {
  ...START_WORKFLOW,
  deadlineSeconds: ({ policies }) => 2 * policies.get('apps.start_timeout_seconds') + LONGEST_READINESS,
  steps: ['app_start.members', 'app_start.ready', 'app_start.end'],
  async run(services, { instanceId }) {
    let outcome = await step('app_start.members', () => startMembers(services, instanceId));
    if (outcome.kind === 'ready')
      outcome = await step('app_start.ready', () => awaitReady(services, instanceId));
    const last = outcome;
    await step('app_start.end', () => recordOutcome(services, instanceId, last));
  },
};

async function recordOutcome(
  services: RuntimeServices,
  instanceId: string,
  outcome: StartOutcome,
): Promise<void> {
  if (outcome.kind === 'ending') return;
  const now = services.clock.now();
  await services.db.transaction().execute(async (tx) => {
    const instance = await lockInstance(tx, instanceId);
    if (instance.status !== 'starting' || instance.ending !== null) return;
    if (outcome.kind === 'failed') {
      const { reason, message, exitCode = null } = outcome;
      await recordAppEvent(tx, now, instance, { type: 'member_failed', reason, message });
      await beginEnding(services, tx, instance, { ending: 'failed', reason, message, exitCode });
      return;
    }
    await tx
      .updateTable('app_instance_members')
      .set({ status: 'running', observe_at: now })
      .where('instance_id', '=', instanceId)
      .execute();
    const running = await moveInstance(tx, instance, 'running', { started_at: now, due_at: null });
    await recordAppEvent(tx, now, running, { type: 'start_completed', message: 'The app is running' });
    if (outcome.detail !== null)
      await recordAppEvent(tx, now, running, { type: 'healthy', message: outcome.detail });
  });
}
