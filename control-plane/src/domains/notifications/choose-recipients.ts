import { sql } from 'kysely';
import { incidentTypes } from '@gpuaas/contracts/generated/incidents.ts';
import type { NotificationAudience, NotificationKind } from '@gpuaas/contracts/generated/notifications.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { isKeyOf, keysOf } from '@gpuaas/contracts/typed-keys';
import { atPlatform, permissionsAt, type Scope } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import { listOperators, listPeople, type Person } from '../tenancy/members/list-people.ts';
import { allocationFacts } from './load-message-facts.ts';
import { messageFor, type NotifiableEvent } from './notified-events.ts';
import { maySubscribeToOthersLeases } from './preferences.ts';
import type { Facts } from './render-message.ts';
import { findServiceAccountOwner } from '../tenancy/service-accounts/find-owner.ts';

export interface Recipient {
  person: Person;
  audience: NotificationAudience;
  /** Kind for the person's preferences. */
  kind: NotificationKind;
  organizationId: string | null;
  /** This person's facts, beside those of the event. */
  facts: Facts;
}

/**
 * People whom the event concerns and who may see it, each once: by the first audience of the message that
 * they belong to.
 */
export async function chooseRecipients(
  policies: Policies,
  tx: Tx,
  event: NotifiableEvent,
): Promise<Map<string, Recipient>> {
  const message = messageFor(event);
  const chosen = new Map<string, Recipient>();
  for (const audience of keysOf(message.to)) {
    for (const recipient of await audiences[audience](policies, tx, event, message.kind)) {
      if (!chosen.has(recipient.person.id)) chosen.set(recipient.person.id, { ...recipient, audience });
    }
  }
  return chosen;
}

type Found = Omit<Recipient, 'audience'>;
type FindAudience = (
  policies: Policies,
  tx: Tx,
  event: NotifiableEvent,
  kind: NotificationKind,
) => Promise<Found[]>;

const audiences: Record<NotificationAudience, FindAudience> = {
  async money(_, tx, { organizationId }, kind) {
    const people = await listPeople(tx, organizationId!);
    const scope = { kind: 'tenant', organizationId: organizationId! } as const;
    return found(holders(people, 'billing.read', scope), kind, organizationId);
  },
  async spenders(_, tx, event, kind) {
    const { organizationId, payload } = event;
    if (!('currency' in payload)) return [];
    const { rows } = await sql<{ id: string }>`
      select distinct a.owner_user_id as id from allocation_meters m join allocations a on a.id = m.allocation_id
      where m.organization_id = ${organizationId} and m.currency = ${payload.currency} and m.ended_at is null
        and a.owner_user_id is not null`.execute(tx);
    return found(await listPeople(tx, organizationId!, ids(rows)), kind, organizationId);
  },
  async owner(policies, tx, event, kind) {
    if (!('allocation_id' in event.payload)) return [];
    const { allocation_id, project_id, organization_id: organizationId } = event.payload;
    const row = await tx
      .selectFrom('allocations')
      .select('owner_user_id')
      .where('id', '=', allocation_id)
      .executeTakeFirst();
    const owner = row?.owner_user_id ?? null;
    const others = await maySubscribeToOthersLeases(policies, tx, organizationId);
    const people = await listPeople(
      tx,
      organizationId,
      others === 'everybody' ? undefined : [...others, ...(owner ? [owner] : [])],
    );
    const scope = { kind: 'project', organizationId, projectId: project_id } as const;
    return [
      ...found(
        people.filter(({ id }) => id === owner),
        kind,
        organizationId,
      ),
      ...found(holders(people, 'allocation.read', scope), 'project_leases', organizationId),
    ];
  },
  async counted(_, tx, { organizationId, payload }, kind) {
    if (!('scope_type' in payload)) return [];
    if (payload.scope_type !== 'user' && payload.scope_type !== 'team') return [];
    const { rows } =
      payload.scope_type === 'user'
        ? { rows: [{ id: payload.scope_id }] }
        : await sql<{
            id: string;
          }>`select user_id as id from team_members where team_id = ${payload.scope_id}`.execute(tx);
    return found(await listPeople(tx, organizationId!, ids(rows)), kind, organizationId);
  },
  async keepers(_, tx, { payload }, kind) {
    if (!('service_account_id' in payload)) return [];
    const { service_account_id, organization_id: organizationId, project_id: projectId } = payload;
    const people = await listPeople(tx, organizationId);
    const ownerId = await findServiceAccountOwner(tx, service_account_id);
    const owner = people.filter(({ id }) => id === ownerId);
    const scope = { kind: 'project', organizationId, projectId } as const;
    return found([...owner, ...holders(people, 'service_account.manage', scope)], kind, organizationId);
  },
  async reservers(_, tx, { organizationId, payload }, kind) {
    if (!('reservation_id' in payload)) return [];
    const people = await listPeople(tx, organizationId!);
    const scope = {
      kind: 'project',
      organizationId: organizationId!,
      projectId: payload.project_id,
    } as const;
    return found(holders(people, 'reservation.manage', scope), kind, organizationId);
  },
  async operators(_, tx, __, kind) {
    return found(holders(await listOperators(tx), 'incident.read', atPlatform), kind, null);
  },
  async affected(_, tx, { payload }, kind) {
    if (!('incident_id' in payload)) return [];
    if (!isKeyOf(incidentTypes, payload.type)) throw new Error(`unknown incident type ${payload.type}`);
    const type = incidentTypes[payload.type];
    if (!('for_tenants' in type)) return [];
    const { rows } = await sql<{ id: string; organization_id: string; owner_user_id: string }>`
      select distinct on (organization_id, owner_user_id) id, organization_id, owner_user_id from allocations
      where owner_user_id is not null and case ${payload.target_type}
        when 'allocation' then id::text = ${payload.target_id}
        when 'node' then node_id::text = ${payload.target_id} and state = 'active' else false end
      order by organization_id, owner_user_id, id`.execute(tx);
    const concerned: Found[] = [];
    for (const row of rows) {
      const people = await listPeople(tx, row.organization_id, [row.owner_user_id]);
      const facts = { ...(await allocationFacts(tx, row.id)), incident: type.for_tenants };
      concerned.push(...found(people, kind, row.organization_id).map((one) => ({ ...one, facts })));
    }
    return concerned;
  },
};

function holders(people: Person[], permission: Permission, scope: Scope): Person[] {
  return people.filter(({ bindings }) => permissionsAt(bindings, scope).has(permission));
}

function found(people: Person[], kind: NotificationKind, organizationId: string | null): Found[] {
  return people.map((person) => ({ person, kind, organizationId, facts: {} }));
}

function ids(rows: { id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
