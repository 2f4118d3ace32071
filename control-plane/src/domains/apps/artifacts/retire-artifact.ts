import { dropBlobs } from '../../../platform/blobs/keep-blob.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { moveArtifact, wrongState, type ArtifactMove, type ArtifactRow } from './move-artifact.ts';
import { findManifest, removeManifest } from './registry/manifests.ts';
import { findSystemRepository, UPLOADS } from './system-repository.ts';

interface Moved {
  row: ArtifactRow;
  move: ArtifactMove;
}

/** No new instances of a locked artifact from here on. Versions that are offered still need it, and refuse. */
export async function deprecateArtifact(
  services: Pick<Services, 'clock'>,
  tx: Tx,
  row: ArtifactRow,
  reason: string,
): Promise<Moved> {
  if (row.state !== 'active') throw wrongState(row, 'deprecated');
  const offered = await tx
    .selectFrom('app_manifest_versions')
    .select(['slug', 'version', 'state'])
    .where('artifact_ref', '=', row.digest)
    .where('state', 'in', ['canary', 'active'])
    .orderBy('slug')
    .executeTakeFirst();
  if (offered)
    throw new Problem(
      'artifact_in_use',
      `${offered.slug} ${offered.version} is ${offered.state} and references it. Activate another version first.`,
    );
  return await moveArtifact(services, tx, row, 'deprecated', reason);
}

/** The end of a locked artifact: its content goes unless something else keeps it. */
export async function retireArtifact(
  services: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  row: ArtifactRow,
  reason: string,
): Promise<Moved> {
  const { clock, policies } = services;
  if (row.state !== 'deprecated') throw wrongState(row, 'retired');
  const graceMs = policies.get('apps.artifact_grace_seconds') * 1000;
  const until = new Date(row.state_changed_at.getTime() + graceMs);
  if (clock.now() < until)
    throw new Problem('artifact_grace_period', `It stays deprecated until ${until.toISOString()}.`);
  const live = await countLive(tx, row.digest);
  if (live > 0)
    throw new Problem('artifact_in_use', `${live} app instances that have not ended use it.`, {
      extensions: { live_instances: live },
    });
  const moved = await moveArtifact(services, tx, row, 'retired', reason);
  await dropBlobs(tx, { subjectType: 'app_artifact', subjectId: row.id });
  if (row.repository === UPLOADS.path) await removeUpload(tx, row.digest);
  return moved;
}

/** Nobody pushed the manifest of an upload, so nobody else would delete it. */
async function removeUpload(tx: Tx, digest: string): Promise<void> {
  const repository = await findSystemRepository(tx, UPLOADS.path);
  if (repository && (await findManifest(tx, repository, digest)))
    await removeManifest(tx, repository, digest);
}

async function countLive(tx: Tx, digest: string): Promise<number> {
  const { live } = await tx
    .selectFrom('app_instances as i')
    .innerJoin('app_manifest_versions as v', (join) =>
      join.onRef('v.slug', '=', 'i.app_slug').onRef('v.version', '=', 'i.app_version'),
    )
    .select((e) => e.fn.countAll<bigint>().as('live'))
    .where('v.artifact_ref', '=', digest)
    .where('i.ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(live);
}
