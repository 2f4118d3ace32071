import type { Caller } from '../../../platform/auth/caller.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { ResourceOwner } from '../owned-resources.ts';
import { permissionsOfBinding, selectBindings } from '../permission-bindings/describe-binding.ts';
import { requireHeldPermissions } from '../require-held-permissions.ts';
import { tenantScope } from '../scopes.ts';
import { revokeAccess } from './revoke-access.ts';
import type { MemberRow } from './find-member.ts';

/** Suspends a member's rights and keeps their bindings. Doing it twice changes nothing. */
export async function disableMember(
  tx: Tx,
  owners: readonly ResourceOwner[],
  member: MemberRow,
): Promise<MemberRow> {
  if (member.state === 'disabled') return member;
  const change = { state: 'disabled', disabled_at: systemClock.now() } as const;
  await tx.updateTable('organization_members').set(change).where('id', '=', member.id).execute();
  await revokeAccess(tx, owners, member, 'disabled');
  return { ...member, ...change };
}

/**
 * Restores a member's rights. The caller must hold all of them, as for granting them. Keys and resources that
 * were handed over do not return.
 */
export async function enableMember(tx: Tx, caller: Caller, member: MemberRow): Promise<MemberRow> {
  if (member.state === 'active') return member;
  for (const binding of await bindingsOf(tx, member)) {
    requireHeldPermissions(
      caller,
      permissionsOfBinding(binding),
      tenantScope(member.organization_id, binding.project_id),
    );
  }
  const change = { state: 'active', disabled_at: null } as const;
  await tx.updateTable('organization_members').set(change).where('id', '=', member.id).execute();
  return { ...member, ...change };
}

/** Direct bindings and those of their teams. */
async function bindingsOf(tx: Tx, member: MemberRow) {
  return await selectBindings(tx)
    .where('b.organization_id', '=', member.organization_id)
    .where((e) =>
      e.or([
        e('b.user_id', '=', member.user_id),
        e('b.team_id', 'in', (q) =>
          q.selectFrom('team_members').select('team_id').where('user_id', '=', member.user_id),
        ),
      ]),
    )
    .execute();
}
