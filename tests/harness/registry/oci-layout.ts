import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { descriptorOf, OCI_INDEX, OCI_MANIFEST, type Descriptor } from './oci-client.ts';

/** Writes an image of one layer with one file as an OCI layout; answers the digest of its manifest. */
export function writeOciLayout(folder: string, file: Buffer): string {
  const tree = join(folder, 'tree');
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
  mkdirSync(tree);
  writeFileSync(join(tree, 'content'), file);
  const tar = spawnSync('tar', ['-C', tree, '-cf', join(folder, 'layer.tar'), 'content']);
  if (tar.status !== 0) throw new Error(`tar failed: ${String(tar.stderr)}`);
  const add = (content: Buffer | string, mediaType: string): Descriptor => {
    const descriptor = descriptorOf(content, mediaType);
    writeFileSync(join(folder, 'blobs', descriptor.digest.replace(':', '/')), content);
    return descriptor;
  };
  const layer = add(readFileSync(join(folder, 'layer.tar')), 'application/vnd.oci.image.layer.v1.tar');
  const config = add(
    JSON.stringify({
      architecture: 'amd64',
      os: 'linux',
      config: { Cmd: ['/content'] },
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    }),
    'application/vnd.oci.image.config.v1+json',
  );
  const manifest = add(
    JSON.stringify({ schemaVersion: 2, mediaType: OCI_MANIFEST, config, layers: [layer] }),
    OCI_MANIFEST,
  );
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(
    join(folder, 'index.json'),
    JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests: [manifest] }),
  );
  return manifest.digest;
}
