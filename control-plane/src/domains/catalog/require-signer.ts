import { findTrustedSigner } from '@gpuaas/contracts/image-statement';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Policies } from '../../platform/policy/policies.ts';

export type SignedStatement = components['schemas']['SignedImageStatement'];
type Known = Pick<components['schemas']['AdminImage'], 'image' | 'kind' | 'readiness_checks'>;

/**
 * Id of the key that signed the digest's statement; null if the permission alone is enough. Throws on a
 * mismatch.
 */
export function requireTrustedSigner(
  policies: Policies,
  image: Known,
  digest: string,
  signed: SignedStatement | undefined,
): string | null {
  if (!signed) {
    if (policies.get('images.blessing_needs') === 'permission') return null;
    throw new Problem(
      'image_signature_required',
      'Send what its builder said of it, signed with a trusted key.',
    );
  }
  const signer = findTrustedSigner(signed, policies.get('images.trusted_keys'));
  if (!signer) throw refused('It is not signed with a key that images.trusted_keys names.');
  const { statement } = signed;
  if (statement.image !== image.image) throw refused(`It is about ${statement.image}.`);
  if (statement.digest !== digest) throw refused('It is about another digest.');
  if (statement.kind !== image.kind) throw refused(`It is about an image of kind ${statement.kind}.`);
  const missing = image.readiness_checks.filter((check) => !statement.readiness_checks.includes(check));
  if (missing.length > 0)
    throw refused(`It does not promise ${missing.join(', ')}, which the image must show.`);
  return signer;
}

function refused(detail: string): Problem {
  return new Problem('image_statement_refused', detail);
}
