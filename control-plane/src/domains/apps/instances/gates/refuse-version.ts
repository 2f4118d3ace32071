import type { Tx } from '../../../../platform/db/database.ts';
import type { Policies } from '../../../../platform/policy/policies.ts';
import { judgeTrust, trustPolicy } from '../../artifacts/trust/judge-trust.ts';
import type { VersionRow } from '../../catalog/describe-manifest.ts';
import type { Snapshot } from './gates.ts';

/** Why a version may not start any more: it was rolled back, or the policy does not trust its artifact; null if it may. */
export async function refuseVersion(
  policies: Policies,
  tx: Tx,
  { artifact_ref: digest, rolled_back_at: rolledBackAt, version }: VersionRow,
): Promise<Snapshot['refusal']> {
  if (rolledBackAt !== null)
    return { reason: 'rejected', message: `Version ${version} was rolled back. Launch the app again.` };
  if (digest === null) return null;
  const artifact = await tx
    .selectFrom('app_artifacts')
    .select(['digest', 'trust_verdict', 'trust_key'])
    .where('digest', '=', digest)
    .executeTakeFirstOrThrow();
  return judgeTrust(artifact, trustPolicy(policies));
}
