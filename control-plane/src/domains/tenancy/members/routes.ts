import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { AuditTarget, Handlers } from '../../../platform/http/operation.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import type { ResourceOwner } from '../owned-resources.ts';
import { describeMember } from './describe-members.ts';
import { findMember, findMemberForUpdate, type MemberRow } from './find-member.ts';
import { listMembers } from './list-members.ts';
import { previewHandover } from './preview-handover.ts';
import { removeMember } from './remove-member.ts';
import { disableMember, enableMember } from './set-member-state.ts';

type MemberOperations = Pick<
  operations,
  'listMembers' | 'getMember' | 'removeMember' | 'disableMember' | 'enableMember' | 'previewHandover'
>;

interface MemberContext {
  caller: Caller;
  params: { member_id: string };
  audit(target: AuditTarget): void;
}

export function memberRoutes(owners: readonly ResourceOwner[]): Handlers<MemberOperations, Caller> {
  /** Finds a member to change and names it in the audit log. */
  const change = async (tx: Tx, { caller, params, audit }: MemberContext): Promise<MemberRow> => {
    const row = await findMemberForUpdate(tx, caller, 'member.manage', params.member_id);
    audit({
      targetType: 'member',
      targetId: row.id,
      organizationId: row.organization_id,
      detail: { user_id: row.user_id },
    });
    return row;
  };
  const name = ({ params, audit }: MemberContext): void =>
    audit({ targetType: 'member', targetId: params.member_id });
  return {
    listMembers({ caller, query, read }) {
      return read(async (tx) => {
        await findOrganization(tx, caller, 'member.read', query.organization_id, { anywhere: true });
        return { status: 200, body: await listMembers(tx, query) };
      });
    },
    getMember({ caller, params, read }) {
      return read(async (tx) => {
        const row = await findMember(tx, caller, params.member_id);
        return { status: 200, body: await describeMember(tx, row) };
      });
    },
    removeMember(context) {
      name(context);
      return context.mutate(async (tx) => {
        await removeMember(tx, owners, await change(tx, context), 'removed');
        return { status: 204, body: undefined };
      });
    },
    disableMember(context) {
      name(context);
      return context.mutate(async (tx) => {
        const row = await disableMember(tx, owners, await change(tx, context));
        return { status: 200, body: await describeMember(tx, row) };
      });
    },
    enableMember(context) {
      name(context);
      return context.mutate(async (tx) => {
        const row = await enableMember(tx, context.caller, await change(tx, context));
        return { status: 200, body: await describeMember(tx, row) };
      });
    },
    previewHandover({ caller, params, read }) {
      return read(async (tx) => {
        const row = await findMember(tx, caller, params.member_id);
        return { status: 200, body: await previewHandover(tx, owners, row) };
      });
    },
  };
}
