import { readFile } from 'node:fs/promises';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, waitForState, type Allocation } from '../allocations/allocations.ts';
import type { TestPlatform } from '../platform.ts';
import { appIs, publish, putPayload, runApp, shellManifest } from './apps.ts';

const PROGRAM = new URL('guest-web-app.mjs', import.meta.url);

export interface WebApp {
  instanceId: string;
  label: string;
  slug: string;
}

export async function launchMachine({ member, projectId }: TestPlatform): Promise<Allocation> {
  const { id } = await launch(member, projectId, 1);
  return await waitForState(member, id, 'active');
}

/** Publishes the test's web app under a new name, and starts it on the machine for the member. */
export async function startWebApp(
  { baseUrl, keys, operator, member, projectId }: TestPlatform,
  allocation: Allocation,
  { slug, port, corsOrigins = [] }: { slug: string; port: number; corsOrigins?: string[] },
): Promise<WebApp> {
  const artifact_ref = await putPayload(baseUrl, keys.operator, await readFile(PROGRAM));
  await publish(
    operator,
    slug,
    shellManifest('', {
      kind: 'service',
      artifact_ref,
      artifact_format: 'file',
      cors_origins: corsOrigins,
      runtime: {
        // Payloads have no extension; Node reads it as a module from standard input.
        command: ['sh', '-c', `exec node --input-type=module - ${port} < payload`],
        ports: [{ name: 'web', port, protocol: 'http' }],
        readiness: { port: 'web', path: '/', timeout_seconds: 120 },
      },
    }),
  );
  const { id } = await runApp(member, {
    project_id: projectId,
    app_slug: slug,
    allocation_id: allocation.id,
  });
  await appIs(member, id, 'running');
  const { label } = await unwrap(
    member.GET('/api/v1/app-instances/{app_instance_id}/address', {
      params: { path: { app_instance_id: id } },
    }),
  );
  return { instanceId: id, label, slug };
}
