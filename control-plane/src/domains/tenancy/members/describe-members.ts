import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { tenantResourceName } from '../../../platform/ids.ts';
import { describeBinding, selectBindings } from '../permission-bindings/describe-binding.ts';
import type { MemberRow } from './find-member.ts';
import { first } from '../../../platform/present.ts';

type Member = components['schemas']['Member'];

const MAX_BINDINGS = 200;

/** Members with their own bindings; bindings of their teams belong to the teams. */
export async function describeMembers(tx: Tx, rows: readonly MemberRow[]): Promise<Member[]> {
  if (rows.length === 0) return [];
  const bindings = await selectBindings(tx)
    .where('b.organization_id', 'in', [...new Set(rows.map((row) => row.organization_id))])
    .where('b.user_id', 'in', [...new Set(rows.map((row) => row.user_id))])
    .orderBy('b.id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    resource_name: tenantResourceName(row.organization_id, 'member', row.id),
    organization_id: row.organization_id,
    user_id: row.user_id,
    email: row.email,
    name: row.name,
    state: row.state,
    bindings: bindings
      .filter((b) => b.user_id === row.user_id && b.organization_id === row.organization_id)
      .slice(0, MAX_BINDINGS)
      .map(describeBinding),
    created_at: row.created_at.toISOString(),
    disabled_at: row.disabled_at?.toISOString() ?? null,
  }));
}

export async function describeMember(tx: Tx, row: MemberRow): Promise<Member> {
  return first(await describeMembers(tx, [row]), 'member');
}
