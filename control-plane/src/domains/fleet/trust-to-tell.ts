import type { Authorities } from '../../platform/keys/authorities.ts';

/** What a heartbeat's answer says of trust: a bundle that differs, and that the host's certificate has had its time. */
export function trustToTell(
  { bundle, signing }: Pick<Authorities, 'bundle' | 'signing'>,
  authorityId: string | null,
  trustedSha256: string | undefined,
): { ca_bundle_pem?: string; renew_certificate?: boolean } {
  return {
    ...(trustedSha256 !== undefined && trustedSha256 !== bundle.sha256 ? { ca_bundle_pem: bundle.pem } : {}),
    ...(authorityId !== null && authorityId !== signing.id ? { renew_certificate: true } : {}),
  };
}
