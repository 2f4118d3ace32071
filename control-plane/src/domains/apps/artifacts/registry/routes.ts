import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../../platform/auth/caller.ts';
import type { AuditTarget, Handlers } from '../../../../platform/http/operation.ts';
import { notFound } from '../../../../platform/http/problem.ts';
import { findProject } from '../../../tenancy/projects/find-project.ts';
import { deleteRepository } from './delete-repository.ts';
import { describe, findById, listRepositories } from './list-repositories.ts';
import { listTags } from './list-tags.ts';
import { OciError } from './oci-error.ts';
import { removeTag } from './tags.ts';

type RegistryOperations = Pick<
  operations,
  | 'listRegistryRepositories'
  | 'getRegistryRepository'
  | 'deleteRegistryRepository'
  | 'listRegistryTags'
  | 'deleteRegistryTag'
>;

/** What the console and the command line need; images go through `/v2/`. */
export function registryRoutes(): Handlers<RegistryOperations, Caller> {
  return {
    listRegistryRepositories({ caller, query, read }) {
      return read(async (tx) => {
        await findProject(tx, caller, 'registry.read', query.project_id);
        return { status: 200, body: await listRepositories(tx, query) };
      });
    },
    getRegistryRepository({ caller, params, read }) {
      return read(async (tx) => {
        const row = await findById(tx, caller, 'registry.read', params.repository_id);
        return { status: 200, body: describe(row) };
      });
    },
    deleteRegistryRepository({ caller, params, audit, mutate }) {
      audit({ targetType: 'registry_repository', targetId: params.repository_id });
      return mutate(async (tx) => {
        const row = await findById(tx, caller, 'registry.delete', params.repository_id);
        await deleteRepository(tx, row.id);
        audit(targetOf(row, { name: row.name }));
        return { status: 204, body: undefined };
      });
    },
    listRegistryTags({ caller, params, query, read }) {
      return read(async (tx) => {
        const { id } = await findById(tx, caller, 'registry.read', params.repository_id);
        return { status: 200, body: await listTags(tx, id, query) };
      });
    },
    deleteRegistryTag({ caller, params, audit, mutate }) {
      audit({ targetType: 'registry_repository', targetId: params.repository_id });
      return mutate(async (tx) => {
        const row = await findById(tx, caller, 'registry.delete', params.repository_id);
        const digest = await removeTag(tx, row, params.tag_name).catch((error: unknown) => {
          throw error instanceof OciError ? notFound() : error;
        });
        audit(targetOf(row, { tag: params.tag_name, digest }));
        return { status: 204, body: undefined };
      });
    },
  };
}

function targetOf(
  { id, organization_id: organizationId }: { id: string; organization_id: string },
  detail: Record<string, unknown>,
): AuditTarget {
  return { targetType: 'registry_repository', targetId: id, organizationId, detail };
}
