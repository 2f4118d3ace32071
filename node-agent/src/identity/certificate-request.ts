import 'reflect-metadata';
import { createPrivateKey, createPublicKey, KeyObject, X509Certificate } from 'node:crypto';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';

export interface CertificateRequest {
  csr_pem: string;
  private_key_pem: string;
}

const P256 = { name: 'ECDSA', namedCurve: 'P-256' };

/**
 * A fresh key that never leaves this machine, and its certificate request. It contains no name: the server
 * chooses.
 */
export async function createCertificateRequest(): Promise<CertificateRequest> {
  const keys = await crypto.subtle.generateKey(P256, true, ['sign', 'verify']);
  const csr = await Pkcs10CertificateRequestGenerator.create(
    { keys, signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' } },
    crypto,
  );
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { csr_pem: csr.toString('pem'), private_key_pem: key.toString() };
}

export function certificateMatchesKey(certificatePem: string, privateKeyPem: string): boolean {
  const publicKey = createPublicKey(createPrivateKey(privateKeyPem));
  return new X509Certificate(certificatePem).publicKey.equals(publicKey);
}
