import { emit } from '../../../platform/events/emit.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { OnboardingRow } from './onboarding-token.ts';
import type { StepName } from './plan-step.ts';

export type StepState = 'running' | 'done' | 'failed';

/** Records the progress of a step, and emits an event if it changed. */
export async function recordStep(
  services: Services,
  onboarding: OnboardingRow,
  step: StepName,
  { state, message }: { state: StepState; message: string | null },
): Promise<void> {
  const now = services.clock.now();
  await services.db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom('node_onboarding_steps')
      .select(['state', 'message', 'started_at'])
      .where('onboarding_id', '=', onboarding.id)
      .where('step', '=', step)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const said = message?.slice(0, 500) ?? null;
    if (row.state === state && row.message === said) return;
    await tx
      .updateTable('node_onboarding_steps')
      .set({
        state,
        message: said,
        started_at: row.started_at ?? now,
        finished_at: state === 'running' ? null : now,
      })
      .where('onboarding_id', '=', onboarding.id)
      .where('step', '=', step)
      .execute();
    await emitOnboardingChanged(tx, onboarding, step);
  });
}

export async function emitOnboardingChanged(
  tx: Tx,
  {
    id,
    hostname,
    state,
    correlation_id,
  }: Pick<OnboardingRow, 'id' | 'hostname' | 'state' | 'correlation_id'>,
  step: StepName | null,
): Promise<void> {
  await emit(tx, {
    type: 'node.onboarding_changed',
    subjectId: id,
    organizationId: null,
    correlationId: correlation_id,
    payload: { onboarding_id: id, hostname, state, step },
  });
}
