import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pruneApps } from '@gpuaas/control-plane/domains/apps/logs/prune-apps';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, release, waitForState } from '../../harness/allocations/allocations.ts';
import { appIs, appLog, publish, runApp, shellManifest, stopApp } from '../../harness/apps/apps.ts';
import { inGuest, setPolicy } from '../../harness/apps/sabotage.ts';
import { eventually } from '../../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

let platform: TestPlatform;
let allocationId: string;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const { member, operator, projectId } = platform;
  // So seldom that a log that waits for its turn does not come within a test.
  await setPolicy(operator, 'apps.observe_interval_seconds', 300);
  ({ id: allocationId } = await launch(member, projectId, 1));
  await waitForState(member, allocationId, 'active');
});
afterAll(() => platform?.stop());

async function run(slug: string, script: string, kind: 'job' | 'service'): Promise<string> {
  const { operator, member, projectId } = platform;
  await publish(operator, slug, shellManifest(script, { kind }));
  const { id } = await runApp(member, {
    project_id: projectId,
    app_slug: slug,
    allocation_id: allocationId,
  });
  return id;
}

const readFrom = (id: string, offset: number, wait_seconds: number) =>
  unwrap(
    platform.member.GET('/api/v1/app-instances/{app_instance_id}/logs', {
      params: { path: { app_instance_id: id }, query: { offset, wait_seconds } },
    }),
  );

const membersOf = async (id: string) => {
  const { items } = await unwrap(
    platform.member.GET('/api/v1/app-instances/{app_instance_id}/members', {
      params: { path: { app_instance_id: id } },
    }),
  );
  return items[0];
};

it('a follower of a log gets a line soon after it is written, also after a silence', async () => {
  const id = await run(
    'speaks-late',
    'echo first; while [ ! -e ~/go ]; do sleep 0.2; done; echo second; sleep 1000',
    'service',
  );
  const first = await eventually('the first line', async () => {
    const part = await readFrom(id, 0, 10);
    return part.content === '' ? null : part;
  });
  expect(first.content).toBe('first\n');
  await inGuest(platform, allocationId, 'touch ~/go');
  const second = await eventually(
    'the second line',
    async () => {
      const part = await readFrom(id, first.next_offset, 10);
      return part.content === '' ? null : part;
    },
    90_000,
  );
  expect(second.content).toBe('second\n');
  await stopApp(platform.member, id);
});

it('the log of a program that writes is kept while nobody reads it', async () => {
  const id = await run('writer', 'while :; do echo line; sleep 0.2; done', 'service');
  await appIs(platform.member, id, 'running');
  const kept = async (): Promise<number> => (await membersOf(id))?.log_bytes ?? 0;
  await eventually('the beginning of the log', async () => (await readFrom(id, 0, 10)).content || null);
  const before = await kept();
  await eventually('more of the log', async () => ((await kept()) > before ? true : null), 90_000);
  await stopApp(platform.member, id);
});

it('no more is kept of a log than the policy says, and the log says so', async () => {
  const limit = 65_536;
  await setPolicy(platform.operator, 'apps.observe_interval_seconds', 1);
  await setPolicy(platform.operator, 'apps.log_max_bytes_per_member', limit);
  const script = `awk 'BEGIN { for (i = 0; i < 20000; i++) printf "line %08d\\n", i }'`;
  const id = await run('prints-much', script, 'job');
  await appIs(platform.member, id, 'succeeded');
  const text = await appLog(platform.member, id);
  expect(text).toHaveLength(limit);
  expect(text.startsWith('line 00000000\nline 00000001\n')).toBe(true);
  expect(await readFrom(id, 0, 0)).toMatchObject({ truncated: true });
  await setPolicy(platform.operator, 'apps.log_max_bytes_per_member', 67_108_864);
});

it('a log is read after its machine is gone, from the blob store, until its time is over', async () => {
  const { member, operator, services } = platform;
  const lines = 30_000;
  const script = `awk 'BEGIN { for (i = 0; i < ${lines}; i++) printf "line %08d\\n", i }'`;
  const id = await run('prints-blobs', script, 'job');
  await appIs(member, id, 'succeeded');
  await release(member, allocationId);
  await waitForState(member, allocationId, 'released');
  const text = await appLog(member, id);
  expect(text).toHaveLength(lines * 14);
  expect(text.endsWith(`line ${String(lines - 1).padStart(8, '0')}\n`)).toBe(true);
  const { id: memberId = '' } = (await membersOf(id)) ?? {};
  const held = async (): Promise<number> => {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) from blob_references where subject_type = 'app_log'`.execute(services.db);
    return Number(rows[0]?.count);
  };
  expect(await held()).toBeGreaterThan(1);

  await setPolicy(operator, 'apps.log_retention_days', 7);
  const age = (days: number) => sql`
    update app_instance_members set ended_at = now() - make_interval(days => ${days}) where id = ${memberId}`;
  const prune = () =>
    pruneApps.run(servicesAsRole(services, 'gpuaas_worker'), { from: new Date(), to: new Date() });
  await age(6).execute(services.db);
  await prune();
  expect(await appLog(member, id)).toBe(text);
  await age(8).execute(services.db);
  await prune();
  expect(await readFrom(id, 0, 0)).toMatchObject({ content: '', complete: true });
  expect(await held()).toBe(0);
});
