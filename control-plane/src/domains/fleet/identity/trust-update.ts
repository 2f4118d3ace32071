import type { Authorities } from '../../../platform/keys/authorities.ts';
import type { PresentedCertificate } from './node-caller.ts';

/**
 * Trust part of a heartbeat response: a bundle that differs, and whether the host's certificate is due for
 * rotation.
 */
export function trustUpdate(
  { bundle, signing }: Pick<Authorities, 'bundle' | 'signing'>,
  certificate: Pick<PresentedCertificate, 'authorityId' | 'rotationDue'> | null,
  trustedSha256: string | undefined,
): { ca_bundle_pem?: string; renew_certificate?: boolean } {
  const hasHadItsTime =
    certificate !== null && (certificate.rotationDue || certificate.authorityId !== signing.id);
  return {
    ...(trustedSha256 !== undefined && trustedSha256 !== bundle.sha256 ? { ca_bundle_pem: bundle.pem } : {}),
    ...(hasHadItsTime ? { renew_certificate: true } : {}),
  };
}
