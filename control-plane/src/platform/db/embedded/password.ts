import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError, errorCode } from './errors.ts';

/** Reads the superuser's password, or creates one if no cluster depends on the old one. */
export async function readOrCreatePassword(dataDir: string, clusterExists: boolean): Promise<string> {
  const path = join(dataDir, 'postgres.password');
  try {
    const kept = (await readFile(path, 'utf8')).trim();
    if (kept) return kept;
  } catch (error) {
    if (errorCode(error) === 'EACCES') {
      throw new EmbeddedPostgresError(
        'not_accessible',
        `${path} belongs to another user. Start the platform as the user that first started it.`,
        { cause: error },
      );
    }
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  if (clusterExists) {
    throw new EmbeddedPostgresError(
      'password_missing',
      `There is a database but its password file ${path} is gone. Restore the file from a backup.`,
    );
  }
  const password = randomBytes(24).toString('base64url');
  const partial = `${path}.partial`;
  const file = await open(partial, 'w', 0o600);
  try {
    await file.writeFile(`${password}\n`);
    // Synced before initdb: a cluster that outlives its password is lost.
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
  return password;
}
