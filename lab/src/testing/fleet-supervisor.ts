import { createGpuaasClient } from '@gpuaas/sdk/client';
import { startSimulatedFleet } from '../simulated-fleet.ts';

/** A separate supervisor for tests that kill it: `fleet-supervisor.ts <server> <state folder> <token>`. */
const [serverUrl = '', stateDir = '', token = ''] = process.argv.slice(2);
const client = createGpuaasClient({
  baseUrl: 'http://platform.test',
  fetch: () =>
    Promise.resolve(
      Response.json(
        { id: crypto.randomUUID(), token, expires_at: new Date().toISOString() },
        { status: 201 },
      ),
    ),
});
const log = { info: () => undefined, warn: () => undefined };
const fleet = await startSimulatedFleet({
  count: 1,
  serverUrl,
  stateDir,
  speed: 0,
  client,
  region: 'lab-1',
  log,
});
process.stdout.write(`${fleet.nodes[0]?.pid()}\n`);
