import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type {
  AppArtifacts,
  AppManifests,
  AppManifestVersions,
} from '../../../platform/db/generated/schema.ts';
import { platformResourceName } from '../../../platform/ids.ts';

type Schemas = components['schemas'];
export type VersionRow = Selectable<AppManifestVersions>;
export type ManifestRow = Selectable<AppManifests>;

export function describeVersion(row: VersionRow): Schemas['AppManifestVersion'] {
  return {
    app_slug: row.slug,
    version: row.version,
    state: row.state,
    display_name: row.display_name,
    description: row.description,
    kind: row.kind,
    artifact_kind: row.artifact_kind,
    artifact_ref: row.artifact_ref,
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
  };
}

/** A manifest with the version that new instances start from. */
export function describeManifest(active: boolean, version: VersionRow): Schemas['AppManifest'] {
  return {
    slug: version.slug,
    resource_name: manifestName(version.slug),
    active,
    version: describeVersion(version),
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

export function describeArtifact(row: Selectable<AppArtifacts>): Schemas['AppArtifact'] {
  return {
    digest: row.digest,
    bytes: Number(row.bytes),
    uploaded_by_name: row.uploaded_by_name,
    uploaded_at: row.uploaded_at.toISOString(),
  };
}

function manifestName(slug: string): string {
  return platformResourceName('global', 'app_manifest', slug);
}
