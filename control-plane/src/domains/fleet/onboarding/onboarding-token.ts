import type { Selectable } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { NodeOnboardings } from '../../../platform/db/generated/schema.ts';
import { withRole } from '../../../platform/db/scope.ts';
import type { Services } from '../../../platform/services.ts';
import { createEnrolment } from '../identity/create-enrolment.ts';

export type OnboardingRow = Selectable<NodeOnboardings>;

export async function lockOnboarding(tx: Tx, onboardingId: string): Promise<OnboardingRow> {
  return await tx
    .selectFrom('node_onboardings')
    .selectAll()
    .where('id', '=', onboardingId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** The token that the machine enrols with. Repeated calls return the same token. */
export async function onboardingToken(services: Services, onboardingId: string): Promise<string> {
  return await services.db.transaction().execute(async (tx) => {
    const row = await lockOnboarding(tx, onboardingId);
    const context = `node_onboarding:${onboardingId}`;
    if (row.sealed_token) return services.sealer.open('enrolment_token', row.sealed_token, context);
    const { id, token } = await withRole(tx, 'gpuaas_operator', () =>
      createEnrolment(services, tx, {
        hostname: row.hostname,
        region: row.region,
        pool: row.pool,
        rack: row.rack,
        nodeFamily: row.node_family,
        createdBy: row.requested_by,
        // It must outlast the installation and the wait for the host.
        atLeastSeconds: 2 * services.policies.get('fleet.maas_deadline_seconds'),
      }),
    );
    await tx
      .updateTable('node_onboardings')
      .set({ enrolment_id: id, sealed_token: services.sealer.seal('enrolment_token', token, context) })
      .where('id', '=', onboardingId)
      .execute();
    return token;
  });
}

/** Whether the host has enrolled. */
export async function findEnrolledNode(
  { db }: Pick<Services, 'db'>,
  { enrolment_id }: Pick<OnboardingRow, 'enrolment_id'>,
): Promise<string | null> {
  if (enrolment_id === null) return null;
  const row = await db
    .selectFrom('node_enrolments')
    .select('node_id')
    .where('id', '=', enrolment_id)
    .where('used_at', 'is not', null)
    .executeTakeFirst();
  return row?.node_id ?? null;
}

/** Revokes the token. False if the host has already used it. */
export async function revokeToken(services: Services, onboardingId: string): Promise<boolean> {
  return await services.db.transaction().execute(async (tx) => {
    const { enrolment_id } = await lockOnboarding(tx, onboardingId);
    if (enrolment_id === null) return true;
    return await withRole(tx, 'gpuaas_operator', async () => {
      const row = await tx
        .selectFrom('node_enrolments')
        .select('used_at')
        .where('id', '=', enrolment_id)
        .forUpdate()
        .executeTakeFirstOrThrow();
      if (row.used_at) return false;
      await tx
        .updateTable('node_enrolments')
        .set({ revoked_at: services.clock.now() })
        .where('id', '=', enrolment_id)
        .where('revoked_at', 'is', null)
        .execute();
      return true;
    });
  });
}
