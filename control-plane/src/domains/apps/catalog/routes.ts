import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { streamOf } from '../../../platform/http/strict-body.ts';
import type { Services } from '../../../platform/services.ts';
import { activateVersion, withdrawManifest } from './activate-version.ts';
import {
  describeArtifact,
  describeManifest,
  describeVersion,
  summarizeManifest,
} from './describe-manifest.ts';
import { findOffered, listManifests, listOffered, listVersions } from './find-manifests.ts';
import { publishVersion } from './publish-version.ts';
import { receiveArtifact, recordArtifact } from './put-artifact.ts';

/** As the contract says (`x-max-stream-bytes`). */
const MAX_PAYLOAD_BYTES = 512 * 1024 * 1024;

type CatalogOperations = Pick<
  operations,
  | 'listAppManifests'
  | 'getAppManifest'
  | 'listAllAppManifests'
  | 'listAppManifestVersions'
  | 'publishAppManifestVersion'
  | 'activateAppManifestVersion'
  | 'withdrawAppManifest'
  | 'putAppArtifact'
>;

export function appCatalogRoutes(services: Services): Handlers<CatalogOperations, Caller> {
  const publisher = (caller: Caller): void => authorize(caller, 'app_manifest.manage', atPlatform);
  return {
    listAppManifests: ({ query, read }) =>
      read(async (tx) => ({ status: 200, body: await listOffered(tx, query) })),
    getAppManifest: ({ params, read }) =>
      read(async (tx) => {
        const version = await findOffered(tx, params.app_slug);
        if (!version) throw notFound();
        return { status: 200, body: describeManifest(true, version) };
      }),
    listAllAppManifests({ caller, query, read }) {
      publisher(caller);
      return read(async (tx) => ({ status: 200, body: await listManifests(tx, query) }));
    },
    listAppManifestVersions({ caller, params, query, read }) {
      publisher(caller);
      return read(async (tx) => ({ status: 200, body: await listVersions(tx, params.app_slug, query) }));
    },
    publishAppManifestVersion({ caller, params, body, audit, mutate }) {
      audit({ targetType: 'app_manifest', targetId: params.app_slug, detail: { version: body.version } });
      return mutate(async (tx) => {
        publisher(caller);
        return {
          status: 201,
          body: describeVersion(await publishVersion(tx, caller, params.app_slug, body)),
        };
      });
    },
    activateAppManifestVersion({ caller, params, audit, mutate }) {
      const target = { targetType: 'app_manifest', targetId: params.app_slug };
      audit(target);
      return mutate(async (tx) => {
        publisher(caller);
        const { before, version } = await activateVersion(services, tx, params.app_slug, params.app_version);
        audit({ ...target, before: { version: before }, after: { version: version.version } });
        return { status: 200, body: describeManifest(true, version) };
      });
    },
    withdrawAppManifest({ caller, params, audit, mutate }) {
      audit({ targetType: 'app_manifest', targetId: params.app_slug });
      return mutate(async (tx) => {
        publisher(caller);
        return { status: 200, body: summarizeManifest(await withdrawManifest(tx, params.app_slug)) };
      });
    },
    async putAppArtifact({ caller, params, request, audit, mutate }) {
      const digest = params.artifact_digest;
      audit({ targetType: 'app_artifact', targetId: digest });
      publisher(caller);
      const { bytes } = await receiveArtifact(services, streamOf(request), digest, MAX_PAYLOAD_BYTES);
      return await mutate(async (tx) => ({
        status: 200,
        body: describeArtifact(await recordArtifact(tx, caller, { digest, bytes })),
      }));
    },
  };
}
