import { Agent } from 'node:https';
import type { components } from '@gpuaas/contracts/generated/node-openapi.ts';
import { AGENT_VERSION } from '../agent-version.ts';
import { isSuccess, postJson, ServerRefusedError } from '../http-json.ts';
import { certificateMatchesKey, createCertificateRequest } from './certificate-request.ts';
import { parseEnrolmentToken } from './enrolment-token.ts';
import type { Identity } from './identity.ts';
import { findPinnedAuthority } from './pinned-authority.ts';

export type NodeIdentity = components['schemas']['NodeIdentity'];

const ENROL_TIMEOUT_MS = 20_000;

/** Trades the one-time token and a CSR for an identity, with the token's CA as the only trust root. */
export async function enrol(server: URL, tokenText: string, hostname: string): Promise<Identity> {
  const token = parseEnrolmentToken(tokenText);
  const authority = await findPinnedAuthority(server, token.caFingerprint);
  const request = await createCertificateRequest();
  const agent = new Agent({ ca: authority, minVersion: 'TLSv1.3' });
  try {
    const url = new URL('/node/v1/enroll', server);
    const answer = await postJson({
      url,
      agent,
      timeoutMs: ENROL_TIMEOUT_MS,
      body: { token: token.text, csr_pem: request.csr_pem, hostname, agent_version: AGENT_VERSION },
    });
    if (!isSuccess(answer)) throw new ServerRefusedError(url.pathname, answer);
    return identityFrom(answer.body as NodeIdentity, request.private_key_pem);
  } finally {
    agent.destroy();
  }
}

export function identityFrom(issued: NodeIdentity, privateKeyPem: string): Identity {
  if (!certificateMatchesKey(issued.certificate_pem, privateKeyPem)) {
    throw new Error('the server issued a certificate for another key');
  }
  return {
    node_id: issued.node_id,
    private_key_pem: privateKeyPem,
    certificate_pem: issued.certificate_pem,
    ca_bundle_pem: issued.ca_bundle_pem,
    signing_public_key_pem: issued.signing_public_key_pem,
  };
}
