import { sql } from 'kysely';
import { perPerson, perTenant, type ResourceLimit } from '../../platform/http/resource-limits.ts';

/** Limits on the resources of people and tenants. */
export const tenancyLimits: readonly ResourceLimit[] = [
  perPerson(
    'tenancy.max_organizations_per_person',
    (id) => sql`select count(*)::int from organizations where created_by = ${id} and deleted_at is null`,
  ),
  perPerson(
    'auth.max_api_keys_per_person',
    (id) => sql`select count(*)::int from api_keys where user_id = ${id} and revoked_at is null
      and (expires_at is null or expires_at > now())`,
  ),
  perTenant(
    'tenancy.max_projects_per_tenant',
    (id) => sql`select count(*)::int from projects where organization_id = ${id} and deleted_at is null`,
  ),
  perTenant(
    'tenancy.max_teams_per_tenant',
    (id) => sql`select count(*)::int from teams where organization_id = ${id} and not is_default`,
  ),
  perTenant(
    'tenancy.max_open_invitations_per_tenant',
    (id) => sql`select count(*)::int from invitations where organization_id = ${id} and accepted_at is null
      and revoked_at is null and expires_at > now()`,
  ),
  perTenant(
    'tenancy.max_permission_groups_per_tenant',
    (id) => sql`select count(*)::int from permission_groups where organization_id = ${id}`,
  ),
  perTenant(
    'tenancy.max_permission_bindings_per_tenant',
    (id) => sql`select count(*)::int from permission_bindings where organization_id = ${id}`,
  ),
  perTenant(
    'tenancy.max_service_accounts_per_tenant',
    (id) => sql`select count(*)::int from service_accounts where organization_id = ${id}`,
  ),
  {
    policy: 'auth.max_tokens_per_service_account',
    holder: ({ target }) => target?.targetId ?? null,
    count: (id) => sql`select count(*)::int from service_account_tokens where service_account_id = ${id}
      and revoked_at is null and expires_at > now()`,
  },
  {
    policy: 'tenancy.max_ssh_keys_per_owner',
    holder: ({ body, caller }) => body['project_id'] ?? caller.actorId,
    count: (id) => sql`select count(*)::int from ssh_keys where project_id = ${id} or user_id = ${id}`,
  },
];
