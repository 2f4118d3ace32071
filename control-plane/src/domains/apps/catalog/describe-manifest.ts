import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { AppManifests, AppManifestVersions } from '../../../platform/db/generated/schema.ts';
import { platformResourceName } from '../../../platform/ids.ts';
import { artifactRef } from '../artifacts/artifact-ref.ts';

type Schemas = components['schemas'];
export type VersionRow = Selectable<AppManifestVersions>;
export type ManifestRow = Selectable<AppManifests>;

/** `host` is the name of the registry in references to artifacts. */
export function describeVersion(host: string, row: VersionRow): Schemas['AppManifestVersion'] {
  const { artifact_ref: digest, artifact_repository: repository } = row;
  return {
    app_slug: row.slug,
    version: row.version,
    state: row.state,
    display_name: row.display_name,
    description: row.description,
    kind: row.kind,
    artifact_kind: row.artifact_kind,
    artifact_ref: digest === null ? null : artifactRef(host, { digest, repository }),
    artifact_format: row.artifact_format,
    compatibility: row.compatibility,
    runtime_profile: row.runtime_profile,
    parameters: row.parameters,
    secrets: row.secrets,
    platform_access: row.platform_access,
    cors_origins: row.cors_origins,
    published_by_name: row.published_by_name,
    published_at: row.published_at.toISOString(),
    activated_at: row.activated_at?.toISOString() ?? null,
    canary_percent: row.canary_percent,
    rolled_back_at: row.rolled_back_at?.toISOString() ?? null,
  };
}

/** A manifest with the version that new instances start from. */
export function describeManifest(host: string, version: VersionRow): Schemas['AppManifest'] {
  return {
    slug: version.slug,
    resource_name: manifestName(version.slug),
    active: true,
    version: describeVersion(host, version),
  };
}

export function summarizeManifest(row: ManifestRow): Schemas['AppManifestSummary'] {
  return {
    slug: row.slug,
    resource_name: manifestName(row.slug),
    display_name: row.display_name,
    active: row.active,
    version: row.version,
    created_at: row.created_at.toISOString(),
  };
}

function manifestName(slug: string): string {
  return platformResourceName('global', 'app_manifest', slug);
}
