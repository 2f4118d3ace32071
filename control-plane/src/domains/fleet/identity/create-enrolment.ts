import { SECRET_PREFIXES } from '@gpuaas/contracts/secret-prefixes';
import { hashSecret, randomSecret } from '../../../platform/auth/secrets.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';

export interface EnrolmentRequest {
  /** Null for any one new host. */
  hostname: string | null;
  region: string;
  pool: string;
  rack: string;
  nodeFamily: string;
  createdBy: string;
  /** Minimum lifetime for a host that enrols late; otherwise the policy applies. */
  atLeastSeconds?: number;
}

/**
 * A one-time token, bound to a hostname if one is given. It contains the CA fingerprint, so that the agent
 * can verify its server.
 */
export async function createEnrolment(
  services: Services,
  tx: Tx,
  request: EnrolmentRequest,
): Promise<{ id: string; token: string; expiresAt: Date }> {
  const region = await tx
    .selectFrom('regions')
    .select('status')
    .where('region', '=', request.region)
    .executeTakeFirst();
  if (!region) throw new Problem('region_unavailable', `There is no region ${request.region}.`);
  const id = newId();
  const { serving } = await services.authorities.inStepWith(tx);
  const token = `${SECRET_PREFIXES.enrolment}${randomSecret()}.${serving.fingerprint}`;
  const seconds = Math.max(
    services.policies.get('fleet.enrolment_token_ttl_seconds'),
    request.atLeastSeconds ?? 0,
  );
  const expiresAt = new Date(services.clock.now().getTime() + seconds * 1000);
  await tx
    .insertInto('node_enrolments')
    .values({
      id,
      token_hash: hashSecret(token),
      hostname: request.hostname,
      region: request.region,
      pool: request.pool,
      rack: request.rack,
      node_family: request.nodeFamily,
      created_by: request.createdBy,
      authority_id: serving.id,
      expires_at: expiresAt,
    })
    .execute();
  return { id, token, expiresAt };
}
