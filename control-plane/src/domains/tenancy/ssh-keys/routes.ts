import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { findProject } from '../projects/find-project.ts';
import { requireUser } from '../require-user.ts';
import { createSshKey } from './create-ssh-key.ts';
import { describeSshKey, findSshKey, type SshKeyRow } from './find-ssh-key.ts';
import { listSshKeys } from './list-ssh-keys.ts';

type SshKeyOperations = Pick<operations, 'listSshKeys' | 'createSshKey' | 'getSshKey' | 'deleteSshKey'>;

const target = (row: SshKeyRow) => ({
  targetType: 'ssh_key',
  targetId: row.id,
  organizationId: row.organization_id,
  detail: { name: row.name, fingerprint: row.fingerprint },
});

export function sshKeyRoutes(): Handlers<SshKeyOperations, Caller> {
  return {
    listSshKeys({ caller, query, read }) {
      const { project_id: projectId } = query;
      return read(async (tx) => {
        if (projectId !== undefined) await findProject(tx, caller, 'ssh_key.read', projectId);
        const of = projectId === undefined ? { userId: requireUser(caller) } : { projectId };
        return { status: 200, body: await listSshKeys(tx, of, query) };
      });
    },
    createSshKey({ caller, body, audit, mutate }) {
      audit({ targetType: 'user', targetId: caller.id });
      return mutate(async (tx) => {
        const row = await createSshKey(tx, caller, body);
        audit(target(row));
        return { status: 201, body: describeSshKey(row), location: `/api/v1/ssh-keys/${row.id}` };
      });
    },
    async getSshKey({ caller, params, read }) {
      const row = await read((tx) => findSshKey(tx, caller, 'ssh_key.read', params.ssh_key_id));
      return { status: 200, body: describeSshKey(row) };
    },
    deleteSshKey({ caller, params, audit, mutate }) {
      audit({ targetType: 'ssh_key', targetId: params.ssh_key_id });
      return mutate(async (tx) => {
        const row = await findSshKey(tx, caller, 'ssh_key.manage', params.ssh_key_id);
        audit(target(row));
        await tx.deleteFrom('ssh_keys').where('id', '=', row.id).execute();
        return { status: 204, body: undefined };
      });
    },
  };
}
