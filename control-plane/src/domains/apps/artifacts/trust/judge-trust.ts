import type { AppReason } from '@gpuaas/contracts/generated/reasons.ts';
import { Problem } from '../../../../platform/http/problem.ts';
import type { Policies } from '../../../../platform/policy/policies.ts';
import type { ArtifactRow } from '../move-artifact.ts';
import { fingerprintsOf } from './judge-signatures.ts';

/** What the policy accepts. */
export interface TrustPolicy {
  /** Fingerprints of the keys of trusted publishers. */
  keys: ReadonlySet<string>;
  unsignedAllowed: boolean;
}

export interface Distrust {
  reason: Extract<AppReason, 'untrusted' | 'digest_mismatch'>;
  message: string;
}

type Found = Pick<ArtifactRow, 'digest' | 'trust_verdict' | 'trust_key'>;

export function trustPolicy(policies: Policies): TrustPolicy {
  return {
    keys: fingerprintsOf(policies.get('apps.trusted_publisher_keys')),
    unsignedAllowed: policies.get('apps.unsigned_artifacts_allowed'),
  };
}

/** Why the policy does not accept what was found about an artifact; null if it does. */
export function judgeTrust(
  { digest, trust_verdict: verdict, trust_key: key }: Found,
  { keys, unsignedAllowed }: TrustPolicy,
): Distrust | null {
  const distrust = (reason: Distrust['reason'], why: string): Distrust => ({
    reason,
    message: `${digest} ${why}`,
  });
  switch (verdict) {
    case 'trusted':
      if (key !== null && keys.has(key)) return null;
      return distrust('untrusted', 'was signed with a key that is no longer trusted.');
    case 'unsigned':
      return unsignedAllowed ? null : distrust('untrusted', 'has no signature.');
    case 'untrusted':
      return distrust('untrusted', 'has no signature of a trusted key.');
    case 'digest_mismatch':
      return distrust('digest_mismatch', 'has a signature over another digest.');
  }
}

export function requireTrusted(policies: Policies, found: Found): void {
  const distrust = judgeTrust(found, trustPolicy(policies));
  if (!distrust) return;
  const code = distrust.reason === 'untrusted' ? 'artifact_untrusted' : 'artifact_digest_mismatch';
  throw new Problem(code, distrust.message, { extensions: { reason: distrust.reason } });
}
