import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { freePort } from '../../harness/processes/free-port.ts';
import { writeOciLayout } from '../../harness/registry/oci-layout.ts';

const run = promisify(execFile);
const hasSkopeo = existsSync('/usr/bin/skopeo');
const hasPodman = existsSync('/usr/bin/podman') && process.getuid?.() === 0;

let api: TestApi;
let host: string;
let folder: string;
let project: string;
let auth: string;

beforeAll(async () => {
  const port = await freePort();
  host = `127.0.0.1:${port}`;
  api = await createTestApi({ publicUrl: `http://${host}` });
  await api.server.listen({ host: '127.0.0.1', port });
  expect((api.server.server.address() as AddressInfo).port).toBe(port);
  project = api.people['admin']!.projectId!;
  folder = mkdtempSync(join(tmpdir(), 'gpuaas-registry-clients-'));
  auth = join(folder, 'auth.json');
  writeFileSync(
    join(folder, 'policy.json'),
    JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }),
  );
});
afterAll(async () => {
  await api?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const signIn = (program: string, person: string): Promise<unknown> =>
  run(program, [
    'login',
    '--tls-verify=false',
    ...['--authfile', auth],
    ...['--username', 'any', '--password', api.people[person]!.apiKey],
    host,
  ]);

describe.skipIf(!hasSkopeo)('skopeo (needs skopeo)', () => {
  const skopeo = async (...args: string[]): Promise<string> => {
    const policy = ['--policy', join(folder, 'policy.json')];
    return (await run('skopeo', [...policy, ...args], { env: { ...process.env, REGISTRY_AUTH_FILE: auth } }))
      .stdout;
  };

  it(
    'signs in, copies an image there and back, lists tags, and deletes it',
    { timeout: 180_000 },
    async () => {
      await signIn('skopeo', 'admin');
      const source = join(folder, 'source');
      mkdirSync(source);
      const digest = writeOciLayout(source, randomBytes(3_000_000));
      const place = `docker://${host}/${project}/by-skopeo`;
      const copy = ['copy', '--preserve-digests', '--src-tls-verify=false', '--dest-tls-verify=false'];
      await skopeo(...copy, `oci:${source}`, `${place}:v1`);
      await skopeo(...copy, `${place}:v1`, `${place}-two:v1`);
      const shown = JSON.parse(await skopeo('inspect', '--tls-verify=false', `${place}:v1`)) as {
        Digest: string;
      };
      expect(shown.Digest).toBe(digest);
      const tags = await skopeo('list-tags', '--tls-verify=false', place);
      expect(JSON.parse(tags)).toMatchObject({ Tags: ['v1'] });
      const back = join(folder, 'back');
      await skopeo(...copy, `${place}-two@${digest}`, `oci:${back}`);
      for (const { digest: blob } of manifestOf(source, digest).layers) {
        const content = readFileSync(join(back, 'blobs', blob.replace(':', '/')));
        expect(`sha256:${createHash('sha256').update(content).digest('hex')}`).toBe(blob);
      }
      await skopeo('delete', '--tls-verify=false', `${place}:v1`);
      await expect(skopeo('inspect', '--tls-verify=false', `${place}:v1`)).rejects.toThrow(
        /unknown|not found/i,
      );
    },
  );

  it('cannot sign in with a wrong key, nor push for a stranger', { timeout: 120_000 }, async () => {
    const wrong = run('skopeo', [
      'login',
      '--tls-verify=false',
      ...['--authfile', join(folder, 'none.json')],
      ...['--username', 'any', '--password', 'wrong', host],
    ]);
    await expect(wrong).rejects.toThrow(/invalid username\/password|unauthorized/i);
    await signIn('skopeo', 'other');
    const source = join(folder, 'strange');
    mkdirSync(source);
    writeOciLayout(source, Buffer.from('small'));
    const push = skopeo(
      'copy',
      '--dest-tls-verify=false',
      `oci:${source}`,
      `docker://${host}/${project}/x:v1`,
    );
    await expect(push).rejects.toThrow(/does not exist|name unknown|not found/i);
  });
});

describe.skipIf(!hasPodman)('podman (needs podman and root)', () => {
  const podman = async (...args: string[]): Promise<string> => {
    const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
    const options = ['--storage-driver', 'vfs', '--cgroup-manager', 'cgroupfs'];
    const env = { ...process.env, REGISTRY_AUTH_FILE: auth, CONTAINERS_REGISTRIES_CONF: '/dev/null' };
    return (await run('podman', [...storage, ...options, ...args], { env, cwd: folder })).stdout;
  };

  it('pushes an image in both formats and pulls it again', { timeout: 240_000 }, async () => {
    await signIn('podman', 'admin');
    const source = join(folder, 'for-podman');
    mkdirSync(source);
    writeOciLayout(source, randomBytes(1_000_000));
    const pulled = (await podman('pull', '--quiet', 'oci:for-podman')).trim();
    for (const format of ['oci', 'v2s2']) {
      const place = `${host}/${project}/by-podman:${format}`;
      await podman('push', '--tls-verify=false', '--format', format, pulled, `docker://${place}`);
      await podman('rmi', '--force', '--all');
      const again = (await podman('pull', '--quiet', '--tls-verify=false', place)).trim();
      expect(again).toBe(pulled);
    }
  });
});

function manifestOf(layout: string, digest: string): { layers: { digest: string }[] } {
  return JSON.parse(readFileSync(join(layout, 'blobs', digest.replace(':', '/')), 'utf8')) as {
    layers: { digest: string }[];
  };
}
