import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { requireIfMatch } from '../../../platform/http/etag.ts';
import type { AuditTarget, Handlers } from '../../../platform/http/operation.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { createTeam } from './create-team.ts';
import { deleteTeam } from './delete-team.ts';
import { describeTeam, findTeam, lockTeam, type TeamRow } from './find-team.ts';
import { listTeams } from './list-teams.ts';
import { setTeamRole } from './set-team-role.ts';
import { addTeamMember, listTeamMembers, removeTeamMember } from './team-members.ts';
import { updateTeam } from './update-team.ts';

type TeamOperations = Pick<
  operations,
  | 'listTeams'
  | 'createTeam'
  | 'getTeam'
  | 'updateTeam'
  | 'deleteTeam'
  | 'listTeamMembers'
  | 'addTeamMember'
  | 'updateTeamMember'
  | 'removeTeamMember'
>;

interface TeamContext {
  caller: Caller;
  params: { team_id: string; user_id?: string };
  audit(target: AuditTarget): void;
}

const target = (row: TeamRow, detail: Record<string, unknown> = { name: row.name }) => ({
  targetType: 'team',
  targetId: row.id,
  organizationId: row.organization_id,
  detail,
});

/** Finds a team to change and names it in the audit log. */
async function change(tx: Tx, { caller, params, audit }: TeamContext): Promise<TeamRow> {
  const row = await lockTeam(tx, caller, params.team_id, { byManagers: params.user_id !== undefined });
  audit(target(row, params.user_id === undefined ? { name: row.name } : { user_id: params.user_id }));
  return row;
}

const name = ({ params, audit }: TeamContext): void =>
  audit({ targetType: 'team', targetId: params.team_id });

export function teamRoutes(): Handlers<TeamOperations, Caller> {
  return {
    listTeams({ caller, query, read }) {
      return read(async (tx) => {
        await findOrganization(tx, caller, 'member.read', query.organization_id, { anywhere: true });
        return { status: 200, body: await listTeams(tx, query) };
      });
    },
    createTeam({ caller, body, audit, mutate }) {
      audit({ targetType: 'organization', targetId: body.organization_id });
      return mutate(async (tx) => {
        const row = await createTeam(tx, caller, body);
        audit(target(row));
        return { status: 201, body: describeTeam(row), location: `/api/v1/teams/${row.id}` };
      });
    },
    async getTeam({ caller, params, read }) {
      const row = await read((tx) => findTeam(tx, caller, 'member.read', params.team_id));
      return { status: 200, body: describeTeam(row) };
    },
    updateTeam(context) {
      name(context);
      return context.mutate(async (tx) => {
        const row = await change(tx, context);
        requireIfMatch(context.request, describeTeam(row));
        return { status: 200, body: describeTeam(await updateTeam(tx, row, context.body)) };
      });
    },
    deleteTeam(context) {
      name(context);
      return context.mutate(async (tx) => {
        const row = await change(tx, context);
        requireIfMatch(context.request, describeTeam(row));
        const { transfer_to: transferTo } = context.query;
        const projects = await deleteTeam(tx, context.caller, row, transferTo);
        if (projects.length > 0) {
          const { length: count } = projects;
          context.audit(target(row, { name: row.name, transfer_to: transferTo, projects: count }));
        }
        return { status: 204, body: undefined };
      });
    },
    listTeamMembers({ caller, params, query, read }) {
      return read(async (tx) => {
        const team = await findTeam(tx, caller, 'member.read', params.team_id);
        return { status: 200, body: await listTeamMembers(tx, team, query) };
      });
    },
    addTeamMember(context) {
      name(context);
      return context.mutate(async (tx) => {
        await addTeamMember(tx, context.caller, await change(tx, context), context.params.user_id);
        return { status: 204, body: undefined };
      });
    },
    updateTeamMember(context) {
      name(context);
      return context.mutate(async (tx) => {
        const { caller, params, body, audit } = context;
        const team = await change(tx, context);
        const { before, member } = await setTeamRole(tx, caller, team, params.user_id, body.role);
        audit(target(team, { user_id: params.user_id, before, after: body.role }));
        return { status: 200, body: member };
      });
    },
    removeTeamMember(context) {
      name(context);
      return context.mutate(async (tx) => {
        await removeTeamMember(tx, context.caller, await change(tx, context), context.params.user_id);
        return { status: 204, body: undefined };
      });
    },
  };
}
