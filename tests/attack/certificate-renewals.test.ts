import { tidyCertificates } from '@gpuaas/control-plane/domains/fleet/identity/tidy-certificates';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../harness/api.ts';
import { addNode } from '../harness/fleet/fleet.ts';
import {
  callNodePort,
  identityFor,
  newCertificateRequest,
  startNodePort,
  type NodePort,
} from '../harness/fleet/node-port.ts';

/** As the policy says. */
const PER_HOUR = 20;

let api: TestApi;
let node: NodePort;
beforeAll(async () => {
  api = await createTestApi();
  node = await startNodePort(api.services);
});
afterAll(async () => {
  await node?.stop();
  await api?.stop();
});

describe('a host', () => {
  it('gets so many certificates an hour, also when it asks for many at a time', async () => {
    const nodeId = await addNode(api);
    const identity = await identityFor(api.services, nodeId);
    const { csrPem } = await newCertificateRequest();
    const ca = api.services.authorities.bundle.pem;
    const answers = await Promise.all(
      Array.from({ length: PER_HOUR + 10 }, () =>
        callNodePort(node.port, ca, identity, '/renew', { csr_pem: csrPem }),
      ),
    );
    // The first was issued above.
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(PER_HOUR - 1);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(11);
    const { rows } = await sql`select from node_certificates where node_id = ${nodeId}`.execute(
      api.services.db,
    );
    expect(rows).toHaveLength(PER_HOUR);
  });

  it('keeps the certificate it speaks with and what came of it; those before are revoked, and taken away in time', async () => {
    const nodeId = await addNode(api);
    const { db } = api.services;
    const authority = await db.selectFrom('node_authorities').select('id').executeTakeFirstOrThrow();
    const chain = ['a', 'b', 'c', 'd'].map((name) => `${name}-${nodeId}`);
    for (const [index, serial] of chain.entries()) {
      await sql`insert into node_certificates (serial_number, node_id, authority_id, issued_at, expires_at, renewed_from)
        values (${serial}, ${nodeId}, ${authority.id}, now() - make_interval(days => ${50 - index}),
          ${index === 0 ? sql`now() - interval '40 days'` : sql`now() + interval '1 day'`},
          ${index === 0 ? null : chain[index - 1]})`.execute(db);
    }
    await sql`update nodes set certificate_serial = ${chain[2]} where id = ${nodeId}`.execute(db);
    const now = new Date();
    await tidyCertificates.run(servicesAsRole(api.services, 'gpuaas_worker'), { from: now, to: now });
    const left = await db
      .selectFrom('node_certificates')
      .select(['serial_number', 'revoked_at'])
      .where('node_id', '=', nodeId)
      .orderBy('issued_at')
      .execute();
    expect(left.map(({ serial_number, revoked_at }) => [serial_number, revoked_at !== null])).toEqual([
      [chain[1], true],
      [chain[2], false],
      [chain[3], false],
    ]);
  });
});
