import { runAsAdmin } from '../../control-plane/src/platform/db/testing.ts';

/** Approves a digest of each image of a migrated database, as an operator does before the first launch. */
export async function approveImages(databaseUrl: string): Promise<void> {
  await runAsAdmin(
    databaseUrl,
    `update images set digest = 'sha256:' || encode(sha256(image::bytea), 'hex') where digest is null`,
  );
}
