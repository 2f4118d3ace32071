import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { platformResourceName } from '../../../platform/ids.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import { artifactRef } from './artifact-ref.ts';
import type { ArtifactRow } from './move-artifact.ts';
import { judgeTrust, trustPolicy } from './trust/judge-trust.ts';

export function describeArtifact(
  { policies, host }: { policies: Policies; host: string },
  row: ArtifactRow,
): components['schemas']['AppArtifact'] {
  return {
    digest: row.digest,
    resource_name: platformResourceName('global', 'app_artifact', row.digest),
    artifact_ref: artifactRef(host, row),
    state: row.state,
    state_reason: row.state_reason,
    state_changed_at: row.state_changed_at.toISOString(),
    payload_digest: row.payload_digest,
    bytes: Number(row.bytes),
    media_type: row.media_type,
    registered_tag: row.registered_tag,
    trust: {
      verdict: row.trust_verdict,
      key_fingerprint: row.trust_key,
      checked_at: row.trust_checked_at.toISOString(),
      accepted: judgeTrust(row, trustPolicy(policies)) === null,
    },
    uploaded_by_name: row.uploaded_by_name,
    uploaded_at: row.uploaded_at.toISOString(),
  };
}
