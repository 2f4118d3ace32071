import { createPrivateKey, randomBytes } from 'node:crypto';
import { x509 } from './x509.ts';
import type { Authority } from './authority.ts';
import { systemClock } from '../clock.ts';

export const EC_P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** As long as most CAs issue by default; the port renews its certificate before that. */
const SERVER_LIFETIME_MS = 86_400_000;

export interface IssueOptions {
  publicKey: CryptoKey;
  commonName: string;
  names: x509.JsonGeneralNames;
  usage: 'serverAuth' | 'clientAuth';
  lifetimeMs: number;
}

/** A leaf under one of our CAs. The caller chooses every name; only the key is taken from a CSR. */
export async function issueCertificate(
  ca: { certificate: x509.X509Certificate; privateKey: CryptoKey },
  options: IssueOptions,
): Promise<x509.X509Certificate> {
  const now = systemClock.now().getTime();
  return await x509.X509CertificateGenerator.create({
    serialNumber: certificateSerial(),
    subject: `CN=${options.commonName}`,
    issuer: ca.certificate.subject,
    notBefore: new Date(now - 60_000),
    notAfter: new Date(now + options.lifetimeMs),
    signingAlgorithm: EC_P256,
    publicKey: options.publicKey,
    signingKey: ca.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[options.usage]]),
      new x509.SubjectAlternativeNameExtension(options.names),
      await x509.AuthorityKeyIdentifierExtension.create(ca.certificate),
    ],
  });
}

/** Key and certificate for our own TLS listener. */
export async function issueServerIdentity(
  ca: Authority & { issue: NonNullable<Authority['issue']> },
  hosts: { dns: string[]; ip: string[] },
): Promise<{ keyPem: string; certPem: string; notAfter: Date }> {
  const keys = await crypto.subtle.generateKey(EC_P256, true, ['sign', 'verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({ keys, signingAlgorithm: EC_P256 });
  const { chainPem, notAfter } = await ca.issue({
    csrPem: request.toString('pem'),
    commonName: 'GPUaaS node API',
    names: [
      ...hosts.dns.map((value) => ({ type: 'dns' as const, value })),
      ...hosts.ip.map((value) => ({ type: 'ip' as const, value })),
    ],
    usage: 'serverAuth',
    lifetimeMs: SERVER_LIFETIME_MS,
  });
  // The CA is sent with the leaf: an enrolling agent compares its fingerprint with the token's.
  return {
    keyPem: await exportPrivateKeyPem(keys.privateKey),
    certPem: `${chainPem}\n${ca.pem}`,
    notAfter,
  };
}

/** Positive, random and 16 bytes long, as X.509 requires. */
export function certificateSerial(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

export async function exportPrivateKeyPem(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

export async function importPrivateKey(pem: string): Promise<CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return await crypto.subtle.importKey('pkcs8', der, EC_P256, false, ['sign']);
}
