import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { x509 } from '../../../platform/keys/x509.ts';
import { EC_P256 } from '../../../platform/keys/certificates.ts';
import type { Services } from '../../../platform/services.ts';

export interface NodeIdentity {
  node_id: string;
  certificate_pem: string;
  ca_bundle_pem: string;
  signing_public_key_pem: string;
}

const SPIFFE = 'spiffe://gpuaas/node/';

/** A 24 h client certificate. The server chooses the subject; the CSR only proves and carries a key. */
export async function issueNodeIdentity(
  services: Services,
  tx: Tx,
  nodeId: string,
  csrPem: string,
  /** Certificate of the caller; none for an enrolment. */
  renewedFrom: string | null = null,
): Promise<NodeIdentity> {
  await checkRequest(csrPem);
  const authorities = await services.authorities.inStepWith(tx);
  const { signing } = authorities;
  const certificate = await signing.issue({
    csrPem,
    commonName: nodeId,
    names: [{ type: 'url', value: `${SPIFFE}${nodeId}` }],
    usage: 'clientAuth',
    lifetimeMs: services.policies.get('fleet.node_certificate_ttl_seconds') * 1000,
  });
  await tx
    .insertInto('node_certificates')
    .values({
      serial_number: certificate.serialNumber,
      node_id: nodeId,
      authority_id: signing.id,
      expires_at: certificate.notAfter,
      renewed_from: renewedFrom,
    })
    .execute();
  return {
    node_id: nodeId,
    certificate_pem: certificate.chainPem,
    ca_bundle_pem: authorities.bundle.pem,
    signing_public_key_pem: services.keys.signing.publicPem,
  };
}

async function checkRequest(csrPem: string): Promise<void> {
  try {
    const request = new x509.Pkcs10CertificateRequest(csrPem);
    await request.publicKey.export(EC_P256, ['verify']);
    if (await request.verify()) return;
  } catch (error) {
    throw invalid(error);
  }
  throw invalid(undefined);
}

function invalid(cause: unknown): Problem {
  return new Problem(
    'csr_invalid',
    'Send a PEM certificate request with an EC P-256 key and a valid signature.',
    { cause },
  );
}
