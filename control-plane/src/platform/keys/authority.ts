import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { systemClock } from '../clock.ts';
import { certificateSerial, EC_P256, exportPrivateKeyPem, importPrivateKey } from './certificates.ts';
import { x509 } from './x509.ts';

/** A CA of ours that vouches for hosts and for the port they speak to. */
export interface Authority {
  id: string;
  state: 'signing' | 'trusted';
  certificate: x509.X509Certificate;
  pem: string;
  fingerprint: string;
  privateKey: CryptoKey;
}

export interface AuthorityText {
  certificatePem: string;
  privatePem: string;
}

const CA_YEARS = 10;

/** Each has a name of its own: a verifier that finds two CAs of one name in a bundle may try the wrong one. */
export async function createAuthorityText(): Promise<AuthorityText> {
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

/** Throws unless the certificate is of this key: whoever can write the table must not be able to name a CA. */
export async function openAuthority(
  row: { id: string; state: Authority['state'] },
  { certificatePem, privatePem }: AuthorityText,
): Promise<Authority> {
  const parsed = new X509Certificate(certificatePem);
  if (!parsed.publicKey.equals(createPublicKey(createPrivateKey(privatePem)))) {
    throw new Error(`the certificate of CA ${row.id} does not belong to its key`);
  }
  return {
    id: row.id,
    state: row.state,
    certificate: new x509.X509Certificate(certificatePem),
    pem: certificatePem,
    fingerprint: fingerprintOf(certificatePem),
    privateKey: await importPrivateKey(privatePem),
  };
}

export function fingerprintOf(certificatePem: string): string {
  return new X509Certificate(certificatePem).fingerprint256.replaceAll(':', '').toLowerCase();
}
