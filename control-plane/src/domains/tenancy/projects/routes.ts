import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import { requireMatch } from '../../../platform/http/etag.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { refusingTakenName } from '../name-taken.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import type { AtClosing, ResourceOwner } from '../owned-resources.ts';
import { createProject } from './create-project.ts';
import { deleteProject } from './delete-project.ts';
import { describeProject, findProject, type ProjectRow } from './find-project.ts';
import { listProjects } from './list-projects.ts';

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
  atClosing: readonly AtClosing[],
): Handlers<ProjectOperations, Caller> {
  return {
    listProjects({ caller, query, read }) {
      return read(async (tx) => {
        await findOrganization(tx, caller, 'project.read', query.organization_id, { anywhere: true });
        return { status: 200, body: await listProjects(tx, caller, { limit: 50, ...query }) };
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
        audit({ ...target(row), detail: { before: row.name, after: body.name } });
        requireMatch(request, describeProject(row));
        await refusingTakenName(body.name, () =>
          tx.updateTable('projects').set({ name: body.name }).where('id', '=', row.id).execute(),
        );
        return { status: 200, body: describeProject({ ...row, name: body.name }) };
      });
    },
    deleteProject({ caller, params, request, audit, mutate }) {
      audit({ targetType: 'project', targetId: params.project_id });
      return mutate(async (tx) => {
        const row = await findProject(tx, caller, 'project.manage', params.project_id, { lock: true });
        audit({ ...target(row), detail: { name: row.name } });
        requireMatch(request, describeProject(row));
        await deleteProject(tx, owners, atClosing, row);
        return { status: 204, body: undefined };
      });
    },
  };
}
