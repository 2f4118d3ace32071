import type { Authorities } from '../../platform/keys/authorities.ts';
import type { ShownCertificate } from './node-caller.ts';

/** What a heartbeat's answer says of trust: a bundle that differs, and that the host's certificate has had its time. */
export function trustToTell(
  { bundle, signing }: Pick<Authorities, 'bundle' | 'signing'>,
  certificate: Pick<ShownCertificate, 'authorityId' | 'rotationDue'> | null,
  trustedSha256: string | undefined,
): { ca_bundle_pem?: string; renew_certificate?: boolean } {
  const hasHadItsTime =
    certificate !== null && (certificate.rotationDue || certificate.authorityId !== signing.id);
  return {
    ...(trustedSha256 !== undefined && trustedSha256 !== bundle.sha256 ? { ca_bundle_pem: bundle.pem } : {}),
    ...(hasHadItsTime ? { renew_certificate: true } : {}),
  };
}
