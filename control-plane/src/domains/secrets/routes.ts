import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { AuditTarget, Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { findProject } from '../tenancy/projects/find-project.ts';
import { deleteSecret } from './delete-secret.ts';
import { describeSecret, type SecretRow } from './describe-secret.ts';
import { listSecrets } from './list-secrets.ts';
import { setSecret } from './set-secret.ts';

type SecretOperations = Pick<operations, 'listProjectSecrets' | 'setProjectSecret' | 'deleteProjectSecret'>;

export function secretRoutes(services: Services): Handlers<SecretOperations, Caller> {
  return {
    listProjectSecrets({ caller, query, read }) {
      return read(async (tx) => {
        await findProject(tx, caller, 'project_secret.read', query.project_id);
        return { status: 200, body: await listSecrets(tx, query) };
      });
    },
    setProjectSecret({ caller, params, body, audit, mutate, correlationId }) {
      audit({ targetType: 'project', targetId: body.project_id });
      return mutate(async (tx) => {
        const secret = { projectId: body.project_id, name: params.secret_name, value: body.value };
        const row = await setSecret(services, tx, caller, secret, correlationId);
        audit(targetOf(row));
        return { status: 200, body: describeSecret(row) };
      });
    },
    deleteProjectSecret({ caller, params, query, audit, mutate, correlationId }) {
      audit({ targetType: 'project', targetId: query.project_id });
      return mutate(async (tx) => {
        const secret = { projectId: query.project_id, name: params.secret_name };
        audit(targetOf(await deleteSecret(tx, caller, secret, correlationId)));
        return { status: 204, body: undefined };
      });
    },
  };
}

function targetOf({ id, organization_id: organizationId, name, version }: SecretRow): AuditTarget {
  return { targetType: 'project_secret', targetId: id, organizationId, detail: { name, version } };
}
