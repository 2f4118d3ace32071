import { SNAPSHOT } from './recipes.ts';

/**
 * The archive itself, whose suite has not changed since its release: its packages equal those of the
 * snapshot.
 */
const ARCHIVE = 'http://archive.ubuntu.com/ubuntu';
const ANSWER_MS = 30_000;

/** The first reachable mirror: the one in the environment, the snapshot, or the archive itself. */
export async function reachableMirror(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const named = env['GPUAAS_IMAGE_MIRROR'];
  const mirrors = named ? [named] : [SNAPSHOT.mirror, ARCHIVE];
  for (const mirror of mirrors) {
    const url = `${mirror}/${SNAPSHOT.keyring}`;
    const answer = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(ANSWER_MS) }).catch(
      () => null,
    );
    if (answer?.ok) return mirror;
  }
  throw new Error(`No archive of packages answers: ${mirrors.join(', ')}`);
}
