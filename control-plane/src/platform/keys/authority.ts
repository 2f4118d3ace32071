import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { systemClock } from '../clock.ts';
import {
  certificateSerial,
  EC_P256,
  exportPrivateKeyPem,
  importPrivateKey,
  issueCertificate,
} from './certificates.ts';
import { x509 } from './x509.ts';

/** Contents of a certificate. The platform chooses the names; the request only carries and proves a key. */
export interface CertificateParams {
  csrPem: string;
  commonName: string;
  names: x509.JsonGeneralNames;
  usage: 'serverAuth' | 'clientAuth';
  lifetimeMs: number;
}

export interface IssuedCertificate {
  /** The certificate, and those between it and the CA. */
  chainPem: string;
  serialNumber: string;
  notAfter: Date;
}

/** A CA that signs certificates of hosts and of the port they connect to. */
export interface Authority {
  id: string;
  state: 'signing' | 'trusted';
  pem: string;
  fingerprint: string;
  /** Null for a CA that is trusted but cannot sign from here. */
  issue: ((order: CertificateParams) => Promise<IssuedCertificate>) | null;
}

export interface InProcessAuthority extends Authority {
  certificate: x509.X509Certificate;
  privateKey: CryptoKey;
}

export interface AuthorityPem {
  certificatePem: string;
  privatePem: string;
}

const CA_YEARS = 10;

/** Each CA has a unique name: a verifier that finds two CAs of one name in a bundle may try the wrong one. */
export async function createAuthorityPem(): Promise<AuthorityPem> {
  const keys = await crypto.subtle.generateKey(EC_P256, true, ['sign', 'verify']);
  const serialNumber = certificateSerial();
  const notBefore = new Date(systemClock.now().getTime() - 60_000);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber,
    name: `CN=GPUaaS node CA ${serialNumber.slice(0, 16)}`,
    notBefore,
    notAfter: new Date(notBefore.getTime() + CA_YEARS * 365 * 86_400_000),
    signingAlgorithm: EC_P256,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    certificatePem: certificate.toString('pem'),
    privatePem: await exportPrivateKeyPem(keys.privateKey),
  };
}

/**
 * Throws unless the certificate belongs to this key: write access to the table must not be enough to install
 * a CA.
 */
export async function openAuthority(
  row: { id: string; state: Authority['state'] },
  { certificatePem, privatePem }: AuthorityPem,
): Promise<InProcessAuthority> {
  const parsed = new X509Certificate(certificatePem);
  if (!parsed.publicKey.equals(createPublicKey(createPrivateKey(privatePem)))) {
    throw new Error(`the certificate of CA ${row.id} does not belong to its key`);
  }
  const ca = {
    certificate: new x509.X509Certificate(certificatePem),
    privateKey: await importPrivateKey(privatePem),
  };
  return {
    id: row.id,
    state: row.state,
    pem: certificatePem,
    fingerprint: fingerprintOf(certificatePem),
    ...ca,
    issue: async (order) => {
      const request = new x509.Pkcs10CertificateRequest(order.csrPem);
      const publicKey = await request.publicKey.export(EC_P256, ['verify']);
      return parseIssuedCertificate((await issueCertificate(ca, { ...order, publicKey })).toString('pem'));
    },
  };
}

/** The certificate as stored: with the serial in the form that TLS shows. */
export function parseIssuedCertificate(chainPem: string): IssuedCertificate {
  const leaf = new X509Certificate(chainPem);
  return {
    chainPem,
    serialNumber: leaf.serialNumber.toLowerCase(),
    notAfter: new Date(leaf.validTo),
  };
}

export function fingerprintOf(certificatePem: string): string {
  return new X509Certificate(certificatePem).fingerprint256.replaceAll(':', '').toLowerCase();
}
