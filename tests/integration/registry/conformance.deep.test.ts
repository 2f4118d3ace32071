import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { freePort } from '../../harness/processes/free-port.ts';

const SUITE = 'https://github.com/opencontainers/distribution-spec';
const RELEASE = 'v1.1.1';

let api: TestApi;
let folder: string;
let host: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gpuaas-conformance-'));
  const port = await freePort();
  host = `http://127.0.0.1:${port}`;
  api = await createTestApi({ publicUrl: host });
  await api.server.listen({ host: '127.0.0.1', port });
  expect((api.server.server.address() as AddressInfo).port).toBe(port);
});
afterAll(async () => {
  await api?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** Builds the suite of the specification; null where Go, the source or its modules are out of reach. */
function buildSuite(): string | null {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0', GOFLAGS: '-buildvcs=false' };
  const steps: [string, string[], string][] = [
    ['git', ['clone', '--quiet', '--depth', '1', '--branch', RELEASE, SUITE, 'spec'], folder],
    ['go', ['test', '-c', '-o', join(folder, 'conformance.test')], join(folder, 'spec/conformance')],
  ];
  for (const [program, args, cwd] of steps)
    if (spawnSync(program, args, { cwd, env, stdio: 'ignore', timeout: 300_000 }).status !== 0) return null;
  return join(folder, 'conformance.test');
}

it('the registry passes the suite of the distribution specification', { timeout: 900_000 }, async (ctx) => {
  const suite = buildSuite();
  if (!suite) return ctx.skip('needs Go and the conformance suite of the distribution specification');
  const { apiKey, projectId } = api.people['admin']!;
  const { status, output } = await run(suite, {
    OCI_ROOT_URL: host,
    OCI_NAMESPACE: `${projectId}/conformance`,
    OCI_CROSSMOUNT_NAMESPACE: `${projectId}/conformance-mounts`,
    OCI_USERNAME: 'token',
    OCI_PASSWORD: apiKey,
    OCI_TEST_PULL: '1',
    OCI_TEST_PUSH: '1',
    OCI_TEST_CONTENT_DISCOVERY: '1',
    OCI_TEST_CONTENT_MANAGEMENT: '1',
    OCI_HIDE_SKIPPED_WORKFLOWS: '0',
  });
  expect(status, output).toBe(0);
});

async function run(
  program: string,
  env: Record<string, string>,
): Promise<{ status: number | null; output: string }> {
  const child = spawn(program, { cwd: folder, env: { ...process.env, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, output };
}
