import { hashSecret } from '../../../platform/auth/secrets.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { emit } from '../../../platform/events/emit.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { cordonNode } from '../nodes/cordons.ts';
import { issueNodeIdentity, type NodeIdentity } from './issue-identity.ts';

const NOT_BURNED_IN = 'No burn-in has passed yet.';

/**
 * Redeems a token. A new host is cordoned until its burn-in; a host that enrols again keeps its node and its
 * slots.
 */
export async function enrollNode(
  services: Services,
  tx: Tx,
  request: { token: string; csrPem: string; hostname: string; agentVersion: string; correlationId: string },
): Promise<NodeIdentity> {
  const enrolment = await tx
    .updateTable('node_enrolments')
    .set({ used_at: services.clock.now() })
    .where('token_hash', '=', hashSecret(request.token))
    .where((e) => e.or([e('hostname', 'is', null), e('hostname', '=', request.hostname)]))
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', services.clock.now())
    .returningAll()
    .executeTakeFirst();
  if (!enrolment) throw invalid('Ask an operator for a new token for this hostname.');
  const freshId = newId();
  const node = await tx
    .insertInto('nodes')
    .values({
      id: freshId,
      hostname: request.hostname,
      region: enrolment.region,
      pool: enrolment.pool,
      rack: enrolment.rack,
      node_family: enrolment.node_family,
      agent_version: request.agentVersion,
    })
    .onConflict((c) => {
      const known = c.column('hostname');
      // Otherwise the holder of any token could impersonate any host.
      if (enrolment.hostname === null) return known.doNothing();
      return known.doUpdateSet({ agent_version: request.agentVersion, identity_revoked_at: null });
    })
    .returning('id')
    .executeTakeFirst();
  if (!node) throw invalid('A host of this name is enrolled already; it needs a token bound to its name.');
  await tx.updateTable('node_enrolments').set({ node_id: node.id }).where('id', '=', enrolment.id).execute();
  if (node.id === freshId) {
    await cordonNode(tx, node.id, { reason: 'burn_in', detail: NOT_BURNED_IN, since: services.clock.now() });
  }
  await emit(tx, {
    type: 'node.enrolled',
    subjectId: node.id,
    organizationId: null,
    correlationId: request.correlationId,
    payload: { node_id: node.id, hostname: request.hostname },
  });
  return await issueNodeIdentity(services, tx, node.id, request.csrPem);
}

function invalid(advice: string): Problem {
  return new Problem('enrolment_token_invalid', advice);
}
