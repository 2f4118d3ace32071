import { ServerRefusedError } from '../http-json.ts';

/** Why the platform and this host do not accept each other; other failures are the network's. */
export type IdentityErrorKind = 'certificate_refused' | 'platform_not_trusted' | 'clock_wrong';

const NOT_TRUSTED = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
]);
const DATES = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

export function classifyIdentityError(error: unknown): IdentityErrorKind | null {
  if (error instanceof ServerRefusedError) {
    return error.status === 401 || error.status === 403 ? 'certificate_refused' : null;
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (NOT_TRUSTED.has(code)) return 'platform_not_trusted';
  return DATES.has(code) ? 'clock_wrong' : null;
}

/** For a person at the host. */
export function remedyFor(trouble: IdentityErrorKind, hostname: string, tokenFile: string): string {
  const enrol = `mint a new enrolment token for ${hostname} and write it to ${tokenFile}; the agent picks it up automatically`;
  switch (trouble) {
    case 'certificate_refused':
      return `the platform refuses this host's certificate (expired, revoked or unknown): ${enrol}`;
    case 'platform_not_trusted':
      return `the platform shows a certificate of a CA that this host was not enrolled with: if the CA was reset, ${enrol}`;
    case 'clock_wrong':
      return "the platform's certificate is not valid at this host's time: check the clock (timedatectl, chronyc tracking)";
  }
}
