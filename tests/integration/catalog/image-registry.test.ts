import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openImageCache } from '@gpuaas/node-agent/host/linux/images/image-cache';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  digestOf,
  registryInstalled,
  startOciRegistry,
  type OciRegistry,
} from '../../harness/servers/oci-registry.ts';

const IMAGE = randomBytes(5_000_000);
const step = { signal: new AbortController().signal, percent: () => undefined };

describe.skipIf(!registryInstalled)('images in a registry of Debian’s (needs docker-registry)', () => {
  let registry: OciRegistry;
  let digest: string;
  let folder: string;
  beforeAll(async () => {
    registry = await startOciRegistry();
    digest = await registry.push('gpuaas/slices', IMAGE);
  });
  afterAll(() => registry?.stop());
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'gpuaas-images-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const read = (wanted: string): Promise<Buffer> => {
    const sources = [`oci+http://${registry.origin}/gpuaas/slices`];
    const images = openImageCache({ folder, sources, maxBytes: 1e9 });
    return images.use(wanted, step, async (file) => readFileSync(file));
  };

  it('are fetched by the digest of their manifest, and verified', async () => {
    expect((await read(digest)).equals(IMAGE)).toBe(true);
  });

  it('go on where an agent was killed: the registry sends the rest, and the whole is verified', async () => {
    const part = join(folder, `${digest.replace(':', '-')}.part`);
    writeFileSync(part, IMAGE.subarray(0, 4_000_000));
    expect((await read(digest)).equals(IMAGE)).toBe(true);
    rmSync(folder, { recursive: true });
    folder = mkdtempSync(join(tmpdir(), 'gpuaas-images-'));
    writeFileSync(join(folder, `${digest.replace(':', '-')}.part`), randomBytes(4_000_000));
    await expect(read(digest)).rejects.toMatchObject({ code: 'image_digest_mismatch' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that are not there are refused with what the registry says', async () => {
    await expect(read(digestOf(Buffer.from('nothing')))).rejects.toMatchObject({
      code: 'image_unavailable',
      message: expect.stringContaining('answers 404'),
    });
  });
});
