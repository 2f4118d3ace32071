import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { freePort } from '../processes/free-port.ts';

export const registryInstalled = existsSync('/usr/bin/docker-registry');

export interface OciRegistry {
  /** `127.0.0.1:port` */
  origin: string;
  /** Puts a disk image there as the one layer of an artifact; answers the digest of its manifest. */
  push(repository: string, image: Buffer): Promise<string>;
  stop(): Promise<void>;
}

/** Debian's docker-registry on a free port, without TLS. */
export async function startOciRegistry(): Promise<OciRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'gpuaas-registry-'));
  const origin = `127.0.0.1:${await freePort()}`;
  const config = join(folder, 'config.yml');
  writeFileSync(
    config,
    `version: 0.1\nlog: {level: warn}\nstorage:\n  filesystem: {rootdirectory: '${folder}/blobs'}\nhttp:\n  addr: ${origin}\n`,
  );
  const child = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
  await eventually('the registry', async () =>
    (await fetch(`http://${origin}/v2/`).catch(() => null))?.ok ? true : null,
  );
  const upload = async (repository: string, content: Buffer): Promise<string> => {
    const begun = await fetch(`http://${origin}/v2/${repository}/blobs/uploads/`, { method: 'POST' });
    const place = new URL(begun.headers.get('location') ?? '', `http://${origin}`);
    place.searchParams.set('digest', digestOf(content));
    const headers = { 'content-type': 'application/octet-stream' };
    await expectCreated(await fetch(place, { method: 'PUT', headers, body: new Uint8Array(content) }));
    return digestOf(content);
  };
  return {
    origin,
    async push(repository, image) {
      const empty = Buffer.from('{}');
      const mediaType = 'application/vnd.oci.image.manifest.v1+json';
      const manifest = JSON.stringify({
        schemaVersion: 2,
        mediaType,
        config: {
          mediaType: 'application/vnd.oci.image.config.v1+json',
          digest: await upload(repository, empty),
          size: empty.length,
        },
        layers: [
          {
            mediaType: 'application/vnd.oci.image.layer.v1.tar',
            digest: await upload(repository, image),
            size: image.length,
          },
        ],
      });
      const digest = digestOf(Buffer.from(manifest));
      const url = `http://${origin}/v2/${repository}/manifests/${digest}`;
      const headers = { 'content-type': mediaType };
      await expectCreated(await fetch(url, { method: 'PUT', headers, body: manifest }));
      return digest;
    },
    async stop() {
      const gone = once(child, 'exit');
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await gone;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function expectCreated(answer: Response): Promise<void> {
  if (answer.status !== 201) throw new Error(`${answer.url} answers ${answer.status} ${await answer.text()}`);
}

export function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
