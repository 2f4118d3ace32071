import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { inspectArtifact, readAhead, type Inspection, type Read } from '../artifacts/inspect-artifact.ts';
import { auditMoves } from '../artifacts/move-artifact.ts';
import { activateVersion, withdrawManifest } from './activate-version.ts';
import { describeManifest, describeVersion, summarizeManifest } from './describe-manifest.ts';
import { findOffered, findVersion, listManifests, listOffered, listVersions } from './find-manifests.ts';
import { lockManifest } from './lock-manifest.ts';
import { publishVersion } from './publish-version.ts';
import { endCanary, setCanary } from './set-canary.ts';

type CatalogOperations = Pick<
  operations,
  | 'listAppManifests'
  | 'getAppManifest'
  | 'listAllAppManifests'
  | 'listAppManifestVersions'
  | 'publishAppManifestVersion'
  | 'activateAppManifestVersion'
  | 'withdrawAppManifest'
  | 'setAppManifestCanary'
  | 'rollBackAppManifest'
>;

/** `host` is the name of the registry in references to artifacts. */
export function appCatalogRoutes(services: Services, host: string): Handlers<CatalogOperations, Caller> {
  const publisher = (caller: Caller): void => authorize(caller, 'app_manifest.manage', atPlatform);
  const inspectVersion = (caller: Caller, read: Read, slug: string, version: string) =>
    readAhead(async (): Promise<Inspection> => {
      publisher(caller);
      const { artifact_ref: digest } = await read((tx) => findVersion(tx, { slug, version }));
      return digest === null ? { signatures: [] } : await inspectArtifact(services, read, digest);
    });
  return {
    listAppManifests: ({ query, read }) =>
      read(async (tx) => ({ status: 200, body: await listOffered(tx, host, query) })),
    getAppManifest: ({ params, read }) =>
      read(async (tx) => {
        const version = await findOffered(tx, params.app_slug);
        if (!version) throw notFound();
        return { status: 200, body: describeManifest(host, version) };
      }),
    listAllAppManifests({ caller, query, read }) {
      publisher(caller);
      return read(async (tx) => ({ status: 200, body: await listManifests(tx, query) }));
    },
    listAppManifestVersions({ caller, params, query, read }) {
      publisher(caller);
      return read(async (tx) => ({
        status: 200,
        body: await listVersions(tx, host, params.app_slug, query),
      }));
    },
    publishAppManifestVersion({ caller, params, body, audit, mutate }) {
      audit({ targetType: 'app_manifest', targetId: params.app_slug, detail: { version: body.version } });
      return mutate(async (tx) => {
        publisher(caller);
        const row = await publishVersion(tx, caller, { host, slug: params.app_slug }, body);
        return { status: 201, body: describeVersion(host, row) };
      });
    },
    async activateAppManifestVersion({ caller, params, request, audit, read, mutate }) {
      const { app_slug: slug, app_version: wanted } = params;
      const target = { targetType: 'app_manifest', targetId: slug };
      audit(target);
      const inspection = await inspectVersion(caller, read, slug, wanted);
      return await mutate(async (tx) => {
        const found = await inspection.result;
        const { before, version, moves } = await activateVersion(services, tx, slug, wanted, found);
        await auditMoves(tx, { caller, request }, moves);
        audit({ ...target, before: { version: before }, after: { version: version.version } });
        return { status: 200, body: describeManifest(host, version) };
      });
    },
    withdrawAppManifest({ caller, params, request, audit, mutate }) {
      audit({ targetType: 'app_manifest', targetId: params.app_slug });
      return mutate(async (tx) => {
        publisher(caller);
        const { row, moves } = await withdrawManifest(services, tx, params.app_slug);
        await auditMoves(tx, { caller, request }, moves);
        return { status: 200, body: summarizeManifest(row) };
      });
    },
    async setAppManifestCanary({ caller, params, body, request, audit, read, mutate }) {
      const { version, percent, reason = 'Canary' } = body;
      const target = { targetType: 'app_manifest', targetId: params.app_slug, detail: { version, reason } };
      audit(target);
      const inspection = await inspectVersion(caller, read, params.app_slug, version);
      return await mutate(async (tx) => {
        const wanted = { slug: params.app_slug, version, percent, reason };
        const change = await setCanary(services, tx, wanted, await inspection.result);
        await auditMoves(tx, { caller, request }, change.moves);
        audit({ ...target, before: { percent: change.before }, after: { percent } });
        return { status: 200, body: describeVersion(host, change.version) };
      });
    },
    rollBackAppManifest({ caller, params, body, request, audit, mutate }) {
      const slug = params.app_slug;
      const target = { targetType: 'app_manifest', targetId: slug };
      audit(target);
      return mutate(async (tx) => {
        publisher(caller);
        await lockManifest(tx, slug);
        const ended = await endCanary(services, tx, slug, body.reason);
        if (!ended) throw new Problem('app_canary_refused', `${slug} has no canary.`);
        await auditMoves(tx, { caller, request }, ended.moves);
        const { version } = ended.version;
        audit({
          ...target,
          before: { percent: ended.before },
          after: { percent: null },
          detail: { version, reason: body.reason },
        });
        return { status: 200, body: describeVersion(host, ended.version) };
      });
    },
  };
}
