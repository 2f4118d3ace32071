import { step, waitForWorkflow, type WorkflowDefinition } from '../../../platform/workflows/definition.ts';
import { present } from '../../../platform/present.ts';
import { endMembers, type MemberEnd } from '../instances/end-members.ts';
import { lockInstance, moveInstance } from '../instances/move-instance.ts';
import { recordAppEvent } from '../instances/record-event.ts';
import { STOP_WORKFLOW, startWorkflowId, type InstanceInput } from '../instances/workflow-names.ts';
import { loadInstance } from './load-instance.ts';
import type { RuntimeServices } from './runtime-services.ts';
import { tearDown } from './tear-down.ts';

/** Ends an instance whose end was decided: stops its members, proves the teardown or leaves it open, records the end. */
export const appStopWorkflow: WorkflowDefinition<RuntimeServices, InstanceInput> = {
  ...STOP_WORKFLOW,
  deadlineSeconds: ({ policies }) => 4 * policies.get('apps.stop_timeout_seconds') + 240,
  steps: ['app_stop.members', 'app_stop.end'],
  async run(services, { instanceId }) {
    // A start under way notices within a second. Whatever it still does, a stopped member never starts again.
    const timeoutSeconds = services.policies.get('apps.stop_timeout_seconds');
    await waitForWorkflow(startWorkflowId(instanceId), { timeoutSeconds });
    const ends = await step('app_stop.members', () => stopMembers(services, instanceId));
    await step('app_stop.end', () => recordEnd(services, instanceId, ends));
  },
};

async function stopMembers(services: RuntimeServices, instanceId: string): Promise<MemberEnd[]> {
  const { instance, version, members } = await loadInstance(services.db, instanceId);
  const until = instance.due_at ?? services.clock.now();
  const left = Math.max(0, (until.getTime() - services.clock.now().getTime()) / 1000);
  const graceSeconds = Math.min(version.runtime_profile.stop_grace_seconds, left);
  return await Promise.all(
    members
      .filter(({ ended_at: ended }) => ended === null)
      .map(async (member) => {
        const result = await tearDown(services, member, { graceSeconds, until });
        return { memberId: member.id, ...result };
      }),
  );
}

async function recordEnd(
  services: RuntimeServices,
  instanceId: string,
  ends: readonly MemberEnd[],
): Promise<void> {
  const now = services.clock.now();
  await services.db.transaction().execute(async (tx) => {
    const instance = await lockInstance(tx, instanceId);
    if (instance.ended_at !== null) return;
    const ending = present(instance.ending, `ending of app instance ${instanceId}`);
    await endMembers(services, tx, instance, ends);
    const ended = await moveInstance(tx, instance, ending, { ended_at: now, due_at: null });
    await recordAppEvent(tx, now, ended, {
      type: ending,
      reason: ended.reason,
      message: `The app has ${ending === 'stopped' ? 'been stopped' : ending}`,
      payload: { exit_code: ended.exit_code },
    });
  });
}
