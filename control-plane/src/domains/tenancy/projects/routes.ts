import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import { requireIfMatch } from '../../../platform/http/etag.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import type { ClosingHook, ResourceOwner } from '../owned-resources.ts';
import { createProject } from './create-project.ts';
import { deleteProject } from './delete-project.ts';
import { describeProject, findProject, type ProjectRow } from './find-project.ts';
import { listProjects } from './list-projects.ts';
import { updateProject } from './update-project.ts';

type ProjectOperations = Pick<
  operations,
  'listProjects' | 'createProject' | 'getProject' | 'updateProject' | 'deleteProject'
>;

const target = ({ id, organization_id }: ProjectRow) => ({
  targetType: 'project',
  targetId: id,
  organizationId: organization_id,
});

export function projectRoutes(
  owners: readonly ResourceOwner[],
  atClosing: readonly ClosingHook[],
): Handlers<ProjectOperations, Caller> {
  return {
    listProjects({ caller, query, read }) {
      return read(async (tx) => {
        await findOrganization(tx, caller, 'project.read', query.organization_id, { anywhere: true });
        return { status: 200, body: await listProjects(tx, caller, query) };
      });
    },
    createProject({ caller, body, audit, mutate }) {
      audit({ targetType: 'organization', targetId: body.organization_id });
      return mutate(async (tx) => {
        const row = await createProject(tx, caller, body);
        audit({ ...target(row), detail: { name: row.name } });
        return { status: 201, body: describeProject(row), location: `/api/v1/projects/${row.id}` };
      });
    },
    async getProject({ caller, params, read }) {
      const row = await read((tx) => findProject(tx, caller, 'project.read', params.project_id));
      return { status: 200, body: describeProject(row) };
    },
    updateProject({ caller, params, body, request, audit, mutate }) {
      audit({ targetType: 'project', targetId: params.project_id });
      return mutate(async (tx) => {
        const row = await findProject(tx, caller, 'project.manage', params.project_id, { lock: true });
        const before = { name: row.name, team_id: row.team_id };
        audit({ ...target(row), before, after: { ...before, ...body } });
        requireIfMatch(request, describeProject(row));
        return { status: 200, body: describeProject(await updateProject(tx, row, body)) };
      });
    },
    deleteProject({ caller, params, request, audit, mutate }) {
      audit({ targetType: 'project', targetId: params.project_id });
      return mutate(async (tx) => {
        const row = await findProject(tx, caller, 'project.manage', params.project_id, { lock: true });
        audit({ ...target(row), detail: { name: row.name } });
        requireIfMatch(request, describeProject(row));
        await deleteProject(tx, owners, atClosing, row);
        return { status: 204, body: undefined };
      });
    },
  };
}
