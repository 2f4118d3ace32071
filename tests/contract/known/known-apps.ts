import { newId } from '@gpuaas/control-plane/platform/ids';
import { shellManifest } from '../../harness/apps/apps.ts';
import type { TestApi } from '../../harness/api.ts';
import type { KnownValues } from '../known-resources.ts';
import { ask } from './ask.ts';
import { seedArtifacts, seedCanary } from './known-artifacts.ts';

const SLUG = 'known-app';
const ENDING = 'ending-app';

/** It has an address. */
const service = shellManifest('true', {
  kind: 'service',
  runtime: { ports: [{ name: 'web', port: 8080, protocol: 'http' }] },
});

/** An app with an instance that waits, and separate ones for the operations that end them. */
export async function seedApps(
  api: TestApi,
  allocationId: string,
): Promise<{ values: KnownValues; own: Record<string, KnownValues> }> {
  for (const slug of [SLUG, ENDING]) {
    const path = `/api/v1/admin/app-manifests/${slug}/versions`;
    await ask(api, 'operator', 'POST', path, service);
    await ask(api, 'operator', 'POST', `${path}/1/activate`);
  }
  const instance = await seedInstance(api, allocationId);
  const artifacts = await seedArtifacts(api);
  const shareLink = await seedShareLink(api, instance.id);
  const { compatibility, runtime_profile: runtime } = shellManifest('true');
  return {
    values: {
      app_slug: [SLUG],
      app_version: ['1'],
      artifact_digest: [artifacts.digest],
      app_instance_id: [instance.id],
      member_id: [instance.memberId],
    },
    own: {
      revokeAppShareLink: { app_instance_id: [instance.id], share_link_id: [shareLink] },
      createAppShareLink: { expires_in_seconds: [3600] },
      stopAppInstance: { app_instance_id: [(await seedInstance(api, allocationId)).id] },
      withdrawAppManifest: { app_slug: [ENDING] },
      ...artifacts.own,
      setAppManifestCanary: {
        app_slug: [await seedCanary(api, 'canary-app')],
        version: ['2'],
        percent: [10],
      },
      rollBackAppManifest: { app_slug: [await seedCanary(api, 'rolling-app', 10)] },
      publishAppManifestVersion: {
        kind: ['job'],
        compatibility: [compatibility],
        runtime_profile: [runtime],
      },
    },
  };
}

async function seedShareLink(api: TestApi, instanceId: string): Promise<string> {
  const path = `/api/v1/app-instances/${instanceId}/share-links`;
  const made = await ask(api, 'member', 'POST', path, { expires_in_seconds: 3600 });
  return made.json<{ share_link: { id: string } }>().share_link.id;
}

async function seedInstance(
  { services, people }: TestApi,
  allocationId: string,
): Promise<{ id: string; memberId: string }> {
  const { organizationId, projectId, email } = people['member']!;
  const [id, memberId] = [newId(), newId()];
  const allocation = await services.db
    .selectFrom('allocations')
    .select('capacity_shape')
    .where('id', '=', allocationId)
    .executeTakeFirstOrThrow();
  const owner = await services.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  await services.db
    .insertInto('app_instances')
    .values({
      id,
      organization_id: organizationId!,
      project_id: projectId!,
      app_slug: SLUG,
      app_version: '1',
      kind: 'service',
      name: 'known',
      bound_capacity_shape: allocation.capacity_shape,
      allocation_id: allocationId,
      parameters: '[]',
      env: '[]',
      correlation_id: newId(),
      created_by: owner.id,
      created_by_name: 'known',
    })
    .execute();
  await services.db
    .insertInto('app_instance_members')
    .values({
      id: memberId,
      organization_id: organizationId!,
      instance_id: id,
      allocation_id: allocationId,
      role: 'node',
      ports: [],
    })
    .execute();
  return { id, memberId };
}
