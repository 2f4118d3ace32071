import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { OnboardingRow } from './onboarding-token.ts';
import { startOnboarding } from './start-onboarding.ts';

/** How the host became one the last time; null for a host that MAAS did not install. */
export async function latestOnboarding(tx: Tx, nodeId: string): Promise<OnboardingRow | null> {
  const row = await tx
    .selectFrom('node_onboardings')
    .selectAll()
    .where('node_id', '=', nodeId)
    .where('state', '=', 'succeeded')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** Has MAAS reinstall an erased machine with its previous profile. A running import is left alone. */
export async function redeployMachine(
  services: Services,
  tx: Tx,
  last: OnboardingRow,
  correlationId: string,
): Promise<void> {
  const running = await tx
    .selectFrom('node_onboardings')
    .select('id')
    .where('maas_system_id', '=', last.maas_system_id)
    .where('state', '=', 'running')
    .executeTakeFirst();
  if (running) return;
  await startOnboarding(services, tx, {
    systemId: last.maas_system_id,
    hostname: last.hostname,
    profile: last.profile,
    region: last.region,
    pool: last.pool,
    rack: last.rack,
    nodeFamily: last.node_family,
    requestedBy: last.requested_by,
    correlationId,
  });
}
