import { createHash } from 'node:crypto';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { ProblemError, unwrap } from '@gpuaas/sdk/problem';
import { buildApp, type Payload } from './apps/build/build-app.ts';
import { DEMO_MANIFESTS, type DemoManifest } from './apps/manifests/demo-manifests.ts';

/**
 * As an operator: publishes the demo apps. Safe to repeat: a version is named after its content, so that only a changed app
 * is published again, and an app that an operator withdrew stays out of the catalog.
 */
export async function publishDemoApps(client: GpuaasClient): Promise<void> {
  const query = { limit: 200 };
  const { items } = await unwrap(client.GET('/api/v1/admin/app-manifests', { params: { query } }));
  for (const manifest of DEMO_MANIFESTS) {
    const payload = await buildApp(manifest.slug);
    const version = versionOf(manifest, payload);
    if (items.some((known) => known.slug === manifest.slug && known.version === version)) continue;
    await publish(client, manifest, payload, version);
  }
}

async function publish(
  client: GpuaasClient,
  manifest: DemoManifest,
  payload: Payload,
  version: string,
): Promise<void> {
  const { slug: app_slug, ...spec } = manifest;
  const artifact = await unwrap(
    client.PUT('/api/v1/admin/app-artifacts/{artifact_digest}', {
      params: { path: { artifact_digest: payload.digest } },
      headers: { 'content-type': 'application/octet-stream' },
      // The contract's type for bytes is a string; they are sent as they are.
      body: payload.digest,
      bodySerializer: () => new Uint8Array(payload.bytes),
    }),
  );
  const draft = { ...spec, version, artifact_ref: artifact.artifact_ref, artifact_format: 'file' as const };
  await unwrap(
    client.POST('/api/v1/admin/app-manifests/{app_slug}/versions', {
      params: { path: { app_slug } },
      body: draft,
    }),
  ).catch((error: unknown) => {
    // A start that was cut off has published it and not made it active.
    if (!(error instanceof ProblemError) || error.problem.code !== 'app_version_exists') throw error;
  });
  await stage(client, artifact);
  await unwrap(
    client.POST('/api/v1/admin/app-manifests/{app_slug}/versions/{app_version}/activate', {
      params: { path: { app_slug, app_version: version } },
    }),
  );
}

/** Without a smoke run: the demo has no project of the platform, and its people would lose the capacity. */
async function stage(
  client: GpuaasClient,
  { digest, state }: { digest: string; state: string },
): Promise<void> {
  if (state !== 'draft') return;
  await unwrap(
    client.POST('/api/v1/admin/app-artifacts/{artifact_digest}/stage', {
      params: { path: { artifact_digest: digest } },
      body: { reason: 'Comes with this release, whose tests run it', waive_smoke_run: true },
    }),
  );
}

function versionOf(manifest: DemoManifest, { digest }: Payload): string {
  const content = JSON.stringify([manifest, digest]);
  return `1.0.0-${createHash('sha256').update(content).digest('hex').slice(0, 12)}`;
}
