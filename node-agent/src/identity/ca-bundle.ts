import { createHash, X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

export function bundleDigest(bundlePem: string): string {
  return createHash('sha256').update(bundlePem).digest('hex');
}

/** Throws unless the bundle consists of CA certificates: trusting garbage would cut this host off. */
export function checkBundle(bundlePem: string): void {
  const certificates = bundlePem.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new Error('the CA bundle holds no certificate');
  for (const pem of certificates) {
    if (!new X509Certificate(pem).ca)
      throw new Error('the CA bundle holds a certificate that is not of a CA');
  }
}
