import { systemClock } from '../../../platform/clock.ts';
import { endSignInsOfUsers } from '../../../platform/auth/sign-ins.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { newId } from '../../../platform/ids.ts';
import { requireRemainingAdmin } from '../require-remaining-admin.ts';
import type { OwnedResource, ResourceOwner } from '../owned-resources.ts';
import { revokeTokensOfPerson } from '../service-accounts/revoke-tokens-of-person.ts';
import type { MemberRow } from './find-member.ts';

export type DepartureReason = 'left' | 'removed' | 'disabled';

/**
 * Completes the end or disabling of a membership. The tenant must still have an admin. Revokes the person's
 * keys, the service account tokens they may know and their open invitations; hands their resources to the
 * projects; ends their sign-ins if they have no tenant left.
 */
export async function revokeAccess(
  tx: Tx,
  owners: readonly ResourceOwner[],
  member: MemberRow,
  reason: DepartureReason,
): Promise<void> {
  await requireRemainingAdmin(tx, member.organization_id);
  await tx
    .updateTable('api_keys')
    .set({ revoked_at: systemClock.now() })
    .where('user_id', '=', member.user_id)
    .where('organization_id', '=', member.organization_id)
    .where('revoked_at', 'is', null)
    .execute();
  // The inviter knows the token: it would let them, or a friend, back in.
  await tx
    .updateTable('invitations')
    .set({ revoked_at: systemClock.now() })
    .where('invited_by', '=', member.user_id)
    .where('organization_id', '=', member.organization_id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute();
  await revokeTokensOfPerson(tx, member);
  for (const owner of owners) {
    const resources = await owner.handOver(tx, member.organization_id, member.user_id);
    await recordHandover(tx, member, reason, resources);
  }
  await revokeOrphanedSignIns(tx, [member.user_id]);
}

async function recordHandover(
  tx: Tx,
  member: MemberRow,
  reason: DepartureReason,
  resources: readonly OwnedResource[],
): Promise<void> {
  if (resources.length === 0) return;
  await tx
    .insertInto('handed_over_resources')
    .values(
      resources.map((resource) => ({
        id: newId(),
        organization_id: member.organization_id,
        user_id: member.user_id,
        user_email: member.email,
        reason,
        ...resource,
      })),
    )
    .execute();
}

/** Ends the sign-ins of people who are active in no tenant and have no rights on the platform. */
export async function revokeOrphanedSignIns(tx: Tx, userIds: readonly string[]): Promise<void> {
  if (userIds.length === 0) return;
  await withRole(tx, 'gpuaas_auth', async () => {
    const orphaned = await tx
      .selectFrom('users as u')
      .select('u.id')
      .where('u.id', 'in', userIds)
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('organization_members as m')
              .select('m.id')
              .whereRef('m.user_id', '=', 'u.id')
              .where('m.state', '=', 'active'),
          ),
        ),
      )
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('permission_bindings as b')
              .select('b.id')
              .whereRef('b.user_id', '=', 'u.id')
              .where('b.scope', '=', 'platform'),
          ),
        ),
      )
      .execute();
    await endSignInsOfUsers(
      tx,
      orphaned.map((user) => user.id),
    );
  });
}
