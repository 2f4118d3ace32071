import { readFile } from 'node:fs/promises';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import { createKeyPair, sshExec, sshLogin } from '@gpuaas/node-agent/testing/ssh';
import { launchBody, waitForState, type Allocation } from '../allocations/allocations.ts';
import { mintStreamToken, openStream } from '../access/guest-stream.ts';

const PROGRAM = new URL('guest-web-app.mjs', import.meta.url);

/** A machine on which the test's web app listens, once on each port. */
export async function startWebApp(
  client: GpuaasClient,
  { baseUrl, projectId, ports }: { baseUrl: string; projectId: string; ports: readonly number[] },
): Promise<Allocation> {
  const pair = createKeyPair();
  const { id: keyId } = await unwrap(
    client.POST('/api/v1/ssh-keys', { body: { name: 'web app', public_key: pair.public } }),
  );
  const body = { ...launchBody(projectId, 1), ssh_key_ids: [keyId] };
  const { id } = await unwrap(client.POST('/api/v1/allocations', { body }));
  const allocation = await waitForState(client, id, 'active');
  const { token } = await mintStreamToken(client, id, 22);
  const { bytes } = await openStream(baseUrl, token);
  const ssh = await sshLogin(bytes, pair.private);
  await sshExec(ssh, 'cat > app.mjs', { stdin: await readFile(PROGRAM, 'utf8') });
  for (const port of ports) {
    const dial = `require('net').connect(${port},'127.0.0.1').on('connect',()=>process.exit(0)).on('error',()=>process.exit(1))`;
    const started = await sshExec(
      ssh,
      `nohup node app.mjs ${port} > app.log 2>&1 & for i in $(seq 100); do node -e "${dial}" && exit 0; sleep 0.1; done; cat app.log; exit 1`,
    );
    if (started.code !== 0) throw new Error(`the app did not start: ${started.stdout} ${started.stderr}`);
  }
  ssh.end();
  return allocation;
}
