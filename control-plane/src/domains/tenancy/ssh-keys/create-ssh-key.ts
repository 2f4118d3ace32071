import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import { isDatabaseError, type Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import { findProject } from '../projects/find-project.ts';
import { requireUser } from '../require-user.ts';
import type { SshKeyRow } from './find-ssh-key.ts';
import { parsePublicKey, InvalidPublicKeyError, type PublicKey } from './parse-public-key.ts';

const UNIQUE_VIOLATION = '23505';

export async function createSshKey(
  tx: Tx,
  caller: Caller,
  body: components['schemas']['CreateSshKey'],
): Promise<SshKeyRow> {
  const owner = await ownerOf(tx, caller, body.project_id);
  const key = accepted(body.public_key);
  try {
    return await tx
      .insertInto('ssh_keys')
      .values({
        id: newId(),
        ...owner,
        name: body.name,
        type: key.type,
        public_key: key.line,
        fingerprint: key.fingerprint,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (!isDatabaseError(error, UNIQUE_VIOLATION)) throw error;
    throw new Problem('ssh_key_exists', `The key ${key.fingerprint} already exists.`, {
      extensions: { fingerprint: key.fingerprint },
    });
  }
}

async function ownerOf(tx: Tx, caller: Caller, projectId: string | undefined) {
  if (projectId === undefined) return { user_id: requireUser(caller) };
  const project = await findProject(tx, caller, 'ssh_key.manage', projectId, { staysOpen: true });
  return { organization_id: project.organization_id, project_id: project.id };
}

function accepted(text: string): PublicKey {
  try {
    return parsePublicKey(text);
  } catch (error) {
    if (!(error instanceof InvalidPublicKeyError)) throw error;
    throw new Problem('ssh_key_invalid', `The key ${error.message}.`, {
      errors: [{ pointer: '/public_key', detail: error.message }],
    });
  }
}
