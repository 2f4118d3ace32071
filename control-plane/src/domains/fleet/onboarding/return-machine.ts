import { MaasError } from '../../../platform/maas/maas-error.ts';
import type { Maas } from '../../../platform/maas/maas.ts';
import type { Services } from '../../../platform/services.ts';
import { lockOnboarding, revokeToken } from './onboarding-token.ts';
import { planReturn } from './plan-step.ts';
import { PROFILE_TAGS, type Profile } from './profiles.ts';

export type ReturnResult =
  | { kind: 'ended'; undone: boolean }
  | { kind: 'waiting'; at: string; pauseSeconds: number };

/**
 * Polls the return of a machine: the token is revoked, and MAAS gets the machine back in its previous state.
 */
export async function returnMachine(
  services: Services,
  onboardingId: string,
  since: string | null,
): Promise<ReturnResult> {
  // A host that has enrolled meanwhile is not taken away from its operators.
  if (!(await revokeToken(services, onboardingId))) return { kind: 'ended', undone: false };
  const row = await services.db.transaction().execute((tx) => lockOnboarding(tx, onboardingId));
  const { maas, clock, policies } = services;
  const isBack = maas && (await returned(maas, row.maas_system_id, row.profile));
  if (isBack) return { kind: 'ended', undone: true };
  const now = clock.now();
  const waited = since === null ? 0 : now.getTime() - new Date(since).getTime();
  if (waited > policies.get('fleet.maas_deadline_seconds') * 1000) return { kind: 'ended', undone: false };
  return { kind: 'waiting', at: now.toISOString(), pauseSeconds: policies.get('fleet.maas_poll_seconds') };
}

async function returned({ client }: Maas, systemId: string, profile: Profile): Promise<boolean> {
  const comment = 'GPUaaS gives the machine back';
  try {
    const machine = await client.machine(systemId);
    switch (planReturn(machine, await client.whoAmI())) {
      case 'wait':
        return false;
      case 'abort':
        await client.abort(systemId, comment);
        return false;
      case 'release':
        // No tenant has used it yet, so there is nothing to erase.
        await client.release(systemId, null, comment);
        return false;
      case 'finish':
        await client.untag(systemId, PROFILE_TAGS[profile]);
        return true;
    }
  } catch (error) {
    if (!(error instanceof MaasError)) throw error;
    // A machine that no longer exists needs no return; a conflict is polled again.
    return error.trouble === 'not_found';
  }
}
