import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { platformResourceName } from '../../../platform/ids.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import { artifactRef } from './artifact-ref.ts';
import type { ArtifactRow } from './move-artifact.ts';
import { describeSmokeRun, findLastRuns, type SmokeRunRow } from './smoke-runs/find-smoke-runs.ts';
import { judgeTrust, trustPolicy } from './trust/judge-trust.ts';

type Artifact = components['schemas']['AppArtifact'];

interface Place {
  policies: Policies;
  /** The name of the registry in references. */
  host: string;
}

export async function describeArtifact(place: Place, tx: Tx, row: ArtifactRow): Promise<Artifact> {
  const runs = await findLastRuns(tx, [row.digest]);
  return describe(place, row, runs.get(row.digest) ?? null);
}

export async function describeArtifacts(
  place: Place,
  tx: Tx,
  rows: readonly ArtifactRow[],
): Promise<Artifact[]> {
  const runs = await findLastRuns(
    tx,
    rows.map(({ digest }) => digest),
  );
  return rows.map((row) => describe(place, row, runs.get(row.digest) ?? null));
}

function describe({ policies, host }: Place, row: ArtifactRow, run: SmokeRunRow | null): Artifact {
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
    smoke_run: run && describeSmokeRun(run),
    smoke_waiver: row.smoke_waiver,
    uploaded_by_name: row.uploaded_by_name,
    uploaded_at: row.uploaded_at.toISOString(),
  };
}
