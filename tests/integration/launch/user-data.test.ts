import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, launchBody, release, waitForState } from '../../harness/allocations/allocations.ts';
import { eventually } from '../../harness/eventually.ts';
import { everyRow } from '../../harness/every-row.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const SECRET = 'hunter2-of-the-tenant';
const SCRIPT = `#!/bin/sh\necho ${SECRET} > /root/token\n`;

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform?.stop());

describe('user-data', () => {
  it('reaches the seed of the machine, is stored nowhere in the clear and forgotten once the machine runs', async () => {
    const { member, operator, projectId, services } = platform;
    const body = { ...launchBody(projectId, 1), user_data: SCRIPT };
    const made = await unwrap(member.POST('/api/v1/allocations', { body }));
    const active = await waitForState(member, made.id, 'active');
    expect(JSON.stringify([made, active])).not.toContain('user_data');
    expect(await seedOf(made.id)).toContain(Buffer.from(SCRIPT).toString('base64').slice(0, 60));

    const text = await everyRow(services.db);
    const base64 = Buffer.from(SECRET).toString('base64').slice(0, 20);
    const hex = Buffer.from(SECRET).toString('hex');
    expect(
      Object.entries(text).filter(([, rows]) => [SECRET, base64, hex].some((form) => rows.includes(form))),
    ).toEqual([]);
    expect(text['public.allocation_user_data']).toBe('');
    const { items } = await unwrap(
      operator.GET('/api/v1/admin/tasks', { params: { query: { limit: 200 } } }),
    );
    const task = items.find(({ kind }) => kind === 'slice.vm_provision')!;
    const shown = await unwrap(
      operator.GET('/api/v1/admin/tasks/{task_id}', { params: { path: { task_id: task.id } } }),
    );
    expect(JSON.stringify(shown)).not.toContain('user_data');
    await release(member, made.id);
    await waitForState(member, made.id, 'released');
  });

  it('is stored with a queued launch, and deleted with it', async () => {
    const { member, projectId, services } = platform;
    const holder = await launch(member, projectId, 8);
    const body = { ...launchBody(projectId, 1), user_data: SCRIPT, when_unavailable: 'queue' as const };
    const [waiting, given] = [
      await unwrap(member.POST('/api/v1/allocations', { body })),
      await unwrap(member.POST('/api/v1/allocations', { body })),
    ];
    expect([waiting.state, given.state]).toEqual(['queued', 'queued']);
    await release(member, given.id);
    expect(await kept()).toEqual([waiting.id]);
    await waitForState(member, holder.id, 'active');
    await release(member, holder.id);
    await waitForState(member, waiting.id, 'active');
    expect(await seedOf(waiting.id)).toContain('text/x-shellscript');
    expect(await kept()).toEqual([]);

    async function kept(): Promise<string[]> {
      const rows = await services.db.selectFrom('allocation_user_data').select('allocation_id').execute();
      return rows.map((row) => row.allocation_id);
    }
  });

  it('is refused with the keys that are not for tenants', async () => {
    const { member, projectId } = platform;
    const body = { ...launchBody(projectId, 1), user_data: '#cloud-config\nusers: []\nhostname: mine\n' };
    const { error } = await member.POST('/api/v1/allocations', { body });
    expect(error).toMatchObject({ code: 'user_data_refused', forbidden_keys: ['users', 'hostname'] });
  });
});

/** As the simulated host wrote it. */
async function seedOf(allocationId: string): Promise<string> {
  return await eventually('the seed', async () => {
    const names = await readdir(platform.dataDir, { recursive: true });
    const name = names.find((one) => one.endsWith(join('slices', allocationId, 'user-data.yaml')));
    return name ? await readFile(join(platform.dataDir, name), 'utf8') : null;
  });
}
