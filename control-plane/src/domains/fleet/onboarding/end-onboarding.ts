import type { Services } from '../../../platform/services.ts';
import { openIncident, resolveIncident } from '../../incidents/open-incident.ts';
import { lockOnboarding } from './onboarding-token.ts';
import { emitOnboardingChanged } from './record-step.ts';

export type OnboardingOutcome =
  | { state: 'succeeded' }
  | { state: 'failed' | 'cancelled'; detail: string; undone: boolean };

/** Ends an onboarding once. A failure, or a machine that was not returned to MAAS, opens an incident. */
export async function endOnboarding(
  services: Services,
  onboardingId: string,
  end: OnboardingOutcome,
): Promise<void> {
  const now = services.clock.now();
  await services.db.transaction().execute(async (tx) => {
    const row = await lockOnboarding(tx, onboardingId);
    if (row.state !== 'running') return;
    const failure = end.state === 'succeeded' ? null : end;
    await tx
      .updateTable('node_onboardings')
      .set({
        state: end.state,
        detail: failure?.detail.slice(0, 500) ?? null,
        undone: failure?.undone ?? null,
        sealed_token: null,
        ended_at: now,
      })
      .where('id', '=', onboardingId)
      .execute();
    await tx
      .updateTable('node_onboarding_steps')
      .set({ state: 'skipped' })
      .where('onboarding_id', '=', onboardingId)
      .where('state', '=', 'waiting')
      .execute();
    const incident = { type: 'node_onboarding_failed', targetId: row.maas_system_id } as const;
    if (failure && (failure.state === 'failed' || !failure.undone)) {
      const left = failure.undone ? 'MAAS has it back.' : 'MAAS did not get it back.';
      await openIncident(tx, now, {
        ...incident,
        targetType: 'maas_machine',
        summary: `${row.hostname} did not become a host. ${left} ${failure.detail}`,
        detail: { onboarding_id: onboardingId, hostname: row.hostname, undone: failure.undone },
      });
    } else {
      await resolveIncident(tx, now, incident, `A later onboarding has ${end.state}.`);
    }
    await emitOnboardingChanged(tx, { ...row, state: end.state }, null);
  });
}
