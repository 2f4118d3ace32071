import 'reflect-metadata';
import { createHash, generateKeyPairSync, KeyObject, randomUUID } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
  type X509Certificate,
} from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';

/** A small CA that issues as the platform does: the server chooses the identity. */
export interface TestAuthority {
  caPem: string;
  fingerprint: string;
  server: { certPem: string; keyPem: string };
  issueNode(csrPem: string, nodeId: string, lifetimeMs: number): Promise<string>;
  signing: { privateKey: KeyObject; publicKeyPem: string };
}

export async function createTestAuthority(): Promise<TestAuthority> {
  const caKeys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const ca = await X509CertificateGenerator.createSelfSigned({
    // Two CAs in one bundle must not share a name, or OpenSSL may try the wrong one.
    name: `CN=test CA ${randomUUID()}`,
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000),
    extensions: [new BasicConstraintsExtension(true, 0, true)],
  });
  const serverKeys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const server = await issue('CN=control plane', serverKeys.publicKey, SERVER_AUTH, 3_600_000, [
    new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]),
  ]);
  const signing = generateKeyPairSync('ed25519');

  async function issue(
    name: string,
    publicKey: CryptoKey,
    usage: string,
    lifetimeMs: number,
    extensions: SubjectAlternativeNameExtension[],
  ): Promise<X509Certificate> {
    return await X509CertificateGenerator.create({
      subject: name,
      issuer: ca.subject,
      publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: ALGORITHM,
      notBefore: new Date(Date.now() - 1_000),
      notAfter: new Date(Date.now() + lifetimeMs),
      extensions: [new ExtendedKeyUsageExtension([usage]), ...extensions],
    });
  }

  return {
    caPem: ca.toString('pem'),
    fingerprint: createHash('sha256').update(Buffer.from(ca.rawData)).digest('hex'),
    server: {
      certPem: `${server.toString('pem')}\n${ca.toString('pem')}`,
      keyPem: KeyObject.from(serverKeys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
    },
    async issueNode(csrPem, nodeId, lifetimeMs) {
      const csr = new Pkcs10CertificateRequest(csrPem);
      if (!(await csr.verify())) throw new Error('bad CSR');
      const key = await csr.publicKey.export();
      return (await issue(`CN=${nodeId}`, key, CLIENT_AUTH, lifetimeMs, [])).toString('pem');
    },
    signing: {
      privateKey: signing.privateKey,
      publicKeyPem: signing.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    },
  };
}
