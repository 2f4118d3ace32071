import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import type { JWK } from 'jose';
import { isRecord } from '@gpuaas/contracts/is-record';

export type SigningKeys = { keys: JWK[] };

/** Reads the private key set, or creates one; kept on disk so that tokens survive a restart. */
export async function readOrCreateSigningKeys(keyFile: string): Promise<SigningKeys> {
  const kept = await readFile(keyFile, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (kept !== undefined) return parse(kept, keyFile);
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const made = { keys: [{ ...(await exportJWK(privateKey)), kid: randomUUID(), alg: 'ES256', use: 'sig' }] };
  await mkdir(dirname(keyFile), { recursive: true });
  // Renamed into place: a half-written key file would break every later start.
  const partial = `${keyFile}.${process.pid}.partial`;
  await writeFile(partial, JSON.stringify(made), { mode: 0o600 });
  await rename(partial, keyFile);
  return made;
}

function parse(text: string, keyFile: string): SigningKeys {
  try {
    const found: unknown = JSON.parse(text);
    if (isRecord(found) && Array.isArray(found['keys']) && found['keys'].length > 0)
      return { keys: found['keys'] };
  } catch {
    // Reported below together with a set that has no keys.
  }
  throw new Error(`${keyFile} is not a JSON Web Key Set. Delete it to create new keys.`);
}
