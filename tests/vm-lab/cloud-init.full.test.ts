import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approveFleet } from '@gpuaas/lab/approve-fleet';
import { buildImage, recipeDigest } from '@gpuaas/lab/images/build-image';
import { reachableMirror } from '@gpuaas/lab/images/reachable-mirror';
import { createKeyPair } from '@gpuaas/node-agent/testing/ssh';
import { unwrap } from '@gpuaas/sdk/problem';
import { launchBody, release, waitForState } from '../harness/allocations/allocations.ts';
import { eventually } from '../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { whyNoWholeSystem } from '../harness/fleet/vm-lab-needs.ts';
import { labCache, openVmHost, VM_HOSTNAME, type VmHost } from '../harness/fleet/vm-host.ts';
import { mintToken, overSlowSsh, sellTinyMachines } from './lab-steps.ts';

const obstacle = whyNoWholeSystem();
const GIB = 2 ** 30;
const BOOT_MS = 1_200_000;

let platform: TestPlatform;
let host: VmHost;

describe.skipIf(obstacle !== null)(
  `a whole system with cloud-init (${obstacle ?? 'needs nothing more'})`,
  () => {
    beforeAll(async () => {
      const image = await builtOnce();
      [platform, host] = await Promise.all([
        startTestPlatform({ nodes: 0 }),
        openVmHost({ image, diskBytes: GIB }),
      ]);
      const slow = ['allocations.provision_deadline_seconds', 'allocations.wipe_deadline_seconds'];
      for (const policy_name of slow)
        await unwrap(
          platform.operator.PUT('/api/v1/admin/policies/{policy_name}', {
            params: { path: { policy_name } },
            body: { value: BOOT_MS / 1000, reason: 'The processor is emulated.' },
          }),
        );
    });
    afterAll(async () => {
      await host?.close();
      await platform?.stop();
    });

    it('is launched with user-data of the tenant, keeps what the platform has set, and is released', async () => {
      const { operator, member, projectId } = platform;
      await sellTinyMachines(platform, host.image.digest);
      await host.startAgent(platform.nodeUrl, {
        GPUAAS_AGENT_TOKEN: await mintToken(platform),
        GPUAAS_LINUX_GUEST_DEADLINE_SECONDS: String(BOOT_MS / 1000),
        // As on a real host; the tiny image of the other lab knows only the BIOS.
        GPUAAS_LINUX_FIRMWARE: 'uefi',
      });
      await eventually('the host', async () => {
        const { items } = await unwrap(operator.GET('/api/v1/admin/nodes'));
        return items.find((one) => one.hostname === VM_HOSTNAME && one.connection === 'connected');
      });
      await approveFleet(operator, { info: () => undefined, warn: () => undefined });
      const pair = createKeyPair();
      const key = await unwrap(
        member.POST('/api/v1/ssh-keys', { body: { name: 'lab', public_key: pair.public.trim() } }),
      );
      const user_data = `#cloud-config
timezone: Asia/Dubai
write_files:
  - path: /etc/of-the-tenant
    content: written
runcmd:
  - [sh, -c, 'echo "as $(id -u) for $(hostname)" > /run/ran-by-the-tenant']
`;
      const body = { ...launchBody(projectId, 1), ssh_key_ids: [key.id], name: 'train-01', user_data };
      const { id } = await unwrap(member.POST('/api/v1/allocations', { body }));
      await waitForState(member, id, 'active', BOOT_MS).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${host.log()}\n${host.consoleOf(id)}`);
      });
      const { expected_ip: address } = await unwrap(
        member.GET('/api/v1/allocations/{allocation_id}/connection', {
          params: { path: { allocation_id: id } },
        }),
      );
      const say = (command: string) => overSlowSsh(host, address, pair.private, command, BOOT_MS);
      const status = await eventually(
        'cloud-init',
        async () => {
          const said = await say('cloud-init status --long || true');
          return /^status: (done|error|degraded)/m.test(said) ? said : null;
        },
        BOOT_MS,
      );
      const trouble = "sudo grep -E -A 8 'WARNING|ERROR|CRITICAL|Traceback' /var/log/cloud-init.log || true";
      expect(status, /status: done/.test(status) ? '' : await say(trouble)).toContain('status: done');
      expect(await say('cat /run/ran-by-the-tenant')).toBe('as 0 for train-01');
      expect(await say('cat /etc/of-the-tenant')).toBe('written');
      expect(await say('readlink /etc/localtime')).toContain('Asia/Dubai');
      expect(await say('echo $(hostname) $(whoami)')).toBe('train-01 ubuntu');
      expect(await say('which gcc || echo none')).toBe('none');
      await release(member, id);
      await waitForState(member, id, 'released', BOOT_MS);
    });
  },
);

/** Cached by its recipe: building it takes minutes, and gives the same bytes each time. */
async function builtOnce() {
  const out = join(labCache(), 'full');
  const [file, digest] = ['qcow2', 'digest'].map((end) => join(out, `${recipeDigest('lab')}.${end}`)) as [
    string,
    string,
  ];
  if (!existsSync(digest)) {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    const built = await buildImage('lab', { out, mirror: await reachableMirror() });
    renameSync(built.file, file);
    writeFileSync(digest, built.statement.digest);
  }
  return { file, digest: readFileSync(digest, 'utf8') };
}
