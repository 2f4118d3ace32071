/** Push and pull of one large layer: our registry beside Debian's docker-registry, in turns. */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { createTestApi } from '../harness/api.ts';
import { digestOf, expectStatus, OciClient } from '../harness/registry/oci-client.ts';
import { registryInstalled, startOciRegistry } from '../harness/servers/oci-registry.ts';
import { setup } from '../setup/global-setup.ts';

const MEGABYTES = Number(process.env['BENCH_MEGABYTES'] ?? 128);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const TARGET = 0.6;

if (!registryInstalled) throw new Error('install docker-registry, which this compares with');
const teardown = await setup();
const api = await createTestApi({ asInProduction: true });
const debian = await startOciRegistry();
try {
  await api.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = api.server.server.address() as AddressInfo;
  const { apiKey, projectId } = api.people['admin']!;
  const ours = {
    client: new OciClient(`http://127.0.0.1:${port}`, apiKey),
    repository: `${projectId}/bench`,
  };
  const theirs = { client: new OciClient(`http://${debian.origin}`, null), repository: 'bench' };
  const best = { ours: { push: 0, pull: 0 }, theirs: { push: 0, pull: 0 } };
  console.log(`load ${loadavg()[0]!.toFixed(1)}, ${MEGABYTES} MB, best of ${ROUNDS}`);
  for (let round = 0; round < ROUNDS; round++) {
    const layer = randomBytes(MEGABYTES * 1_000_000);
    for (const [name, place] of Object.entries({ ours, theirs }) as ['ours' | 'theirs', typeof ours][]) {
      const { push, pull } = await measure(place, layer);
      best[name].push = Math.max(best[name].push, push);
      best[name].pull = Math.max(best[name].pull, pull);
    }
  }
  for (const what of ['push', 'pull'] as const) {
    const share = best.ours[what] / best.theirs[what];
    const verdict = share >= TARGET ? 'met' : 'NOT met';
    console.log(
      `${what}: ${best.ours[what].toFixed(0)} MB/s, docker-registry ${best.theirs[what].toFixed(0)} MB/s, ` +
        `${(share * 100).toFixed(0)} % (target ${TARGET * 100} %: ${verdict})`,
    );
  }
} finally {
  await debian.stop();
  await api.stop();
  await teardown();
}

async function measure({ client, repository }: { client: OciClient; repository: string }, layer: Buffer) {
  const digest = digestOf(layer);
  const pushing = performance.now();
  const begun = await client.send('POST', `/v2/${repository}/blobs/uploads/`);
  const place = new URL(begun.headers.get('location') ?? '', client.origin);
  const patched = await client.send('PATCH', place.href, layer, {
    'content-type': 'application/octet-stream',
  });
  await expectStatus(patched, 202);
  const end = new URL(patched.headers.get('location') ?? '', client.origin);
  end.searchParams.set('digest', digest);
  await expectStatus(await client.send('PUT', end.href), 201);
  const pulling = performance.now();
  const got = await client.send('GET', `/v2/${repository}/blobs/${digest}`);
  let bytes = 0;
  for await (const chunk of got.body ?? []) bytes += chunk.length;
  if (bytes !== layer.length) throw new Error(`pulled ${bytes} of ${layer.length} bytes`);
  const done = performance.now();
  const rate = (from: number, to: number): number => (MEGABYTES * 1000) / (to - from);
  return { push: rate(pushing, pulling), pull: rate(pulling, done) };
}
