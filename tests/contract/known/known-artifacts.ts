import { shellManifest } from '../../harness/apps/apps.ts';
import type { TestApi } from '../../harness/api.ts';
import { digestOf } from '../../harness/registry/oci-client.ts';
import type { KnownValues } from '../known-resources.ts';
import { STREAMED_CONTENT } from '../requests.ts';
import { ask } from './ask.ts';
import { pushImage } from './known-registry.ts';

const REPOSITORY = 'system/known';
const REASON = { reason: 'Seeded.' };

/** One artifact for each operation that moves it, in the state from which it moves. */
export async function seedArtifacts(
  api: TestApi,
): Promise<{ digest: string; own: Record<string, KnownValues> }> {
  const digest = await upload(api, STREAMED_CONTENT);
  await pushImage(api, 'operator', REPOSITORY, 'v1');
  const stage: Move = ['stage', {}];
  const canary: Move = ['promote', { to: 'canary' }];
  const active: Move = ['promote', { to: 'active' }];
  const retiring = await seedArtifact(api, 'retiring', [stage, canary, active, ['deprecate', {}]]);
  await api.services.db
    .updateTable('app_artifacts')
    .set({ state_changed_at: new Date(0) })
    .where('digest', '=', retiring)
    .execute();
  const own = {
    putAppArtifact: { artifact_digest: [digestOf(STREAMED_CONTENT)] },
    registerAppArtifact: { repository: [REPOSITORY], reference: ['v1'] },
    stageAppArtifact: { artifact_digest: [await seedArtifact(api, 'staging', [])] },
    startAppArtifactSmokeRun: { artifact_digest: [await seedArtifact(api, 'smoking', [])] },
    promoteAppArtifact: { artifact_digest: [await seedArtifact(api, 'promoted', [stage])], to: ['canary'] },
    rollBackAppArtifact: { artifact_digest: [await seedArtifact(api, 'rolled', [stage, canary])] },
    deprecateAppArtifact: {
      artifact_digest: [await seedArtifact(api, 'deprecated', [stage, canary, active])],
    },
    retireAppArtifact: { artifact_digest: [retiring] },
  };
  return { digest, own };
}

type Move = [verb: string, more: object];

async function seedArtifact(api: TestApi, slug: string, moves: readonly Move[]): Promise<string> {
  const digest = await upload(api, `payload of ${slug}`);
  const manifest = shellManifest('true', { artifact_ref: digest, artifact_format: 'file' });
  await ask(api, 'operator', 'POST', `/api/v1/admin/app-manifests/${slug}/versions`, manifest);
  for (const [verb, more] of moves)
    await ask(api, 'operator', 'POST', `/api/v1/admin/app-artifacts/${digest}/${verb}`, {
      ...REASON,
      ...more,
    });
  return digest;
}

async function upload(api: TestApi, content: string): Promise<string> {
  const answer = await api.server.inject({
    method: 'PUT',
    url: `/api/v1/admin/app-artifacts/${digestOf(content)}`,
    headers: {
      authorization: `Bearer ${api.people['operator']!.apiKey}`,
      'content-type': 'application/octet-stream',
    },
    payload: content,
  });
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`);
  return answer.json<{ digest: string }>().digest;
}

/** An app with an active version and a second one, which is the canary if a share is given. */
export async function seedCanary(api: TestApi, slug: string, percent: number | null = null): Promise<string> {
  const path = `/api/v1/admin/app-manifests/${slug}`;
  for (const version of ['1', '2'])
    await ask(api, 'operator', 'POST', `${path}/versions`, shellManifest('true', { version }));
  await ask(api, 'operator', 'POST', `${path}/versions/1/activate`);
  if (percent !== null) await ask(api, 'operator', 'PUT', `${path}/canary`, { version: '2', percent });
  return slug;
}
