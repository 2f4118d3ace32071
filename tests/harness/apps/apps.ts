import { createHash } from 'node:crypto';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import { eventually } from '../eventually.ts';

type Schemas = components['schemas'];
export type AppInstance = Schemas['AppInstance'];
type Version = Schemas['PublishAppManifestVersion'];

const compatibility: Schemas['AppCompatibility'] = {
  requires_capacity_shape: ['gpu_slice', 'baremetal'],
  min_gpu_count: 0,
  requires_exclusive_node: false,
  needs_root: false,
};

/** A manifest that runs a shell script. */
export function shellManifest(
  script: string,
  change: Partial<Version> & { runtime?: Partial<Schemas['AppRuntimeProfile']> } = {},
): Version {
  const { runtime = {}, ...rest } = change;
  return {
    version: '1',
    display_name: 'Test app',
    kind: 'job',
    compatibility,
    runtime_profile: {
      command: ['sh', '-c', script],
      env: [],
      ports: [],
      readiness: null,
      stop_grace_seconds: 5,
      ...runtime,
    },
    ...rest,
  };
}

/** Uploads a payload; returns the digest of its artifact. */
export async function putPayload(baseUrl: string, apiKey: string, content: Buffer): Promise<string> {
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  const answer = await fetch(`${baseUrl}/api/v1/admin/app-artifacts/${digest}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(content),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as Schemas['AppArtifact']).digest;
}

/** Publishes and activates a version. */
export async function publish(operator: GpuaasClient, slug: string, version: Version): Promise<void> {
  const path = { app_slug: slug };
  await unwrap(
    operator.POST('/api/v1/admin/app-manifests/{app_slug}/versions', { params: { path }, body: version }),
  );
  await unwrap(
    operator.POST('/api/v1/admin/app-manifests/{app_slug}/versions/{app_version}/activate', {
      params: { path: { ...path, app_version: version.version } },
    }),
  );
}

export async function runApp(
  client: GpuaasClient,
  request: Schemas['CreateAppInstance'],
): Promise<AppInstance> {
  return await unwrap(client.POST('/api/v1/app-instances', { body: request }));
}

export async function getApp(client: GpuaasClient, id: string): Promise<AppInstance> {
  return await unwrap(
    client.GET('/api/v1/app-instances/{app_instance_id}', { params: { path: { app_instance_id: id } } }),
  );
}

export async function stopApp(client: GpuaasClient, id: string): Promise<AppInstance> {
  return await unwrap(
    client.POST('/api/v1/app-instances/{app_instance_id}/stop', {
      params: { path: { app_instance_id: id } },
    }),
  );
}

const ENDED: readonly string[] = ['stopped', 'failed', 'succeeded'];

/** Waits for one of the states; another end than the expected is an error with the events. */
export async function appIs(
  client: GpuaasClient,
  id: string,
  ...states: AppInstance['status'][]
): Promise<AppInstance> {
  return await eventually(
    `${states.join(' or ')} app instance`,
    async () => {
      const app = await getApp(client, id);
      if (states.includes(app.status)) return app;
      if (!ENDED.includes(app.status)) return null;
      throw new Error(`${app.status}: ${JSON.stringify(await appEvents(client, id), null, 1)}`);
    },
    120_000,
  );
}

export async function appEvents(client: GpuaasClient, id: string): Promise<Schemas['AppInstanceEvent'][]> {
  const { items } = await unwrap(
    client.GET('/api/v1/app-instances/{app_instance_id}/events', {
      params: { path: { app_instance_id: id }, query: { limit: 200 } },
    }),
  );
  return items;
}

/** The whole log, read until it is complete. */
export async function appLog(client: GpuaasClient, id: string): Promise<string> {
  let text = '';
  for (let offset = 0; ;) {
    const part = await unwrap(
      client.GET('/api/v1/app-instances/{app_instance_id}/logs', {
        params: { path: { app_instance_id: id }, query: { offset, wait_seconds: 1 } },
      }),
    );
    text += part.content;
    if (part.complete) return text;
    offset = part.next_offset;
  }
}
