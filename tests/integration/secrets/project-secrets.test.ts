import { randomBytes } from 'node:crypto';
import { MissingSecretsError, openSecrets } from '@gpuaas/control-plane/domains/secrets/open-secrets';
import { inScope, type DatabaseRole } from '@gpuaas/control-plane/platform/db/scope';
import { fixedKeys } from '@gpuaas/control-plane/platform/keys/key-file';
import { resealColumn } from '@gpuaas/control-plane/platform/keys/reseal';
import { Sealer } from '@gpuaas/control-plane/platform/keys/seal';
import { sealedColumns } from '@gpuaas/control-plane/platform/keys/sealed-columns';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { everyRow } from '../../harness/every-row.ts';

const PATH = '/api/v1/project-secrets';
const CANARY = 'canary-of-a-project-secret-5b1e';
const lines: string[] = [];

let api: TestApi;
beforeAll(async () => {
  const log = createLogger('secrets', { write: (line: string) => void lines.push(line) });
  log.level = 'trace';
  api = await createTestApi({ log });
});
afterAll(() => api?.stop());

type Answer = Awaited<ReturnType<TestApi['server']['inject']>>;

async function send(
  person: string,
  method: string,
  url: string,
  payload?: object,
  key?: string,
): Promise<Answer> {
  return await api.server.inject({
    method: method as 'GET',
    url,
    headers: {
      authorization: `Bearer ${api.people[person]!.apiKey}`,
      ...(key ? { 'x-idempotency-key': key } : {}),
    },
    ...(payload ? { payload } : {}),
  });
}

const projectOf = (person: string): string => api.people[person]!.projectId!;
const set = (name: string, value: string, person = 'admin', key?: string): Promise<Answer> =>
  send(person, 'PUT', `${PATH}/${name}`, { project_id: projectOf('admin'), value }, key);
const remove = (name: string, person = 'admin'): Promise<Answer> =>
  send(person, 'DELETE', `${PATH}/${name}?project_id=${projectOf('admin')}`);
const list = async (person = 'admin'): Promise<Answer> =>
  await send(person, 'GET', `${PATH}?project_id=${projectOf('admin')}`);
const names = async (): Promise<string[]> =>
  (await list()).json<{ items: { name: string }[] }>().items.map(({ name }) => name);

/** What the runtime gets, under the role it acts as. */
const open = (wanted: string[], role: DatabaseRole = 'gpuaas_app_runtime', sealer = api.services.sealer) =>
  inScope(api.services.db, { role, organizationIds: [api.people['admin']!.organizationId!] }, (tx) =>
    openSecrets({ sealer }, tx, projectOf('admin'), wanted),
  );

describe('a secret of a project', () => {
  it('is created, replaced and deleted by name; its value is in nothing that people or logs see', async () => {
    const made = await set('API_TOKEN', CANARY);
    expect(made.statusCode).toBe(200);
    expect(made.json()).toMatchObject({ name: 'API_TOKEN', version: 1, set_by_name: 'Tenant Admin' });
    expect((await set('API_TOKEN', `${CANARY}-2`)).json()).toMatchObject({ version: 2 });
    expect((await list('member')).json()).toMatchObject({
      items: [{ name: 'API_TOKEN', version: 2 }],
      next_page: null,
    });
    expect(await open(['API_TOKEN'])).toEqual(new Map([['API_TOKEN', `${CANARY}-2`]]));
    await set('TOO_LARGE', `${CANARY}${'ä'.repeat(20_000)}`);
    await set('lower', CANARY);
    await set('OTHERS', CANARY, 'member');
    await set('OTHERS', CANARY, 'other');
    expect((await remove('API_TOKEN')).statusCode).toBe(204);
    expect((await remove('API_TOKEN')).statusCode).toBe(404);

    const answers = [made.body, (await list()).body].join('\n');
    expect(answers).not.toContain('canary');
    await set('STAYS', CANARY);
    for (const [table, rows] of Object.entries(await everyRow(api.services.db))) {
      expect(rows, table).not.toContain(CANARY);
      expect(rows, table).not.toContain(Buffer.from(CANARY).toString('base64'));
    }
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('')).not.toContain(CANARY);
    await remove('STAYS');
    const events = await api.services.db
      .selectFrom('outbox_events')
      .select('event_type')
      .where('event_type', 'like', 'project_secret.%')
      .orderBy('position')
      .execute();
    expect(events.map((event) => event.event_type)).toEqual([
      'project_secret.set',
      'project_secret.set',
      'project_secret.deleted',
      'project_secret.set',
      'project_secret.deleted',
    ]);
    const audited = await api.services.db
      .selectFrom('audit_logs')
      .select(['action', 'detail'])
      .where('action', '=', 'project_secret.set')
      .where('result', '=', 'succeeded')
      .execute();
    expect(audited[0]!.detail).toMatchObject({ name: 'API_TOKEN', version: 1 });
  });

  it('is refused with a wrong name, more than 32 KiB, without the right, and in another tenant', async () => {
    for (const name of ['lower', '1ST', 'A-B', 'A'.repeat(65), 'Ä'])
      expect((await set(encodeURIComponent(name), 'value')).statusCode, name).toBe(400);
    expect((await set('LARGE', 'ä'.repeat(16_384))).statusCode).toBe(200);
    const tooLarge = await set('LARGE', 'ä'.repeat(16_385));
    expect(tooLarge.json()).toMatchObject({ status: 422, code: 'secret_too_large', limit: 32_768 });
    expect((await set('A', 'value', 'member')).statusCode).toBe(403);
    expect((await remove('LARGE', 'member')).statusCode).toBe(403);
    expect((await set('A', 'value', 'other')).statusCode).toBe(404);
    expect((await list('other')).statusCode).toBe(404);
    expect(await names()).toEqual(['LARGE']);
    await remove('LARGE');
  });

  it('is set once by a request that is sent twice, and by many at the same time', async () => {
    const twice = [
      await set('ONCE', 'v', 'admin', 'secret-key-1'),
      await set('ONCE', 'v', 'admin', 'secret-key-1'),
    ];
    expect(twice.map((answer) => answer.json<{ version: number }>().version)).toEqual([1, 1]);
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => set('MANY', `value ${n}`)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 8 }, () => 200));
    const last = answers.findIndex((answer) => answer.json<{ version: number }>().version === 8);
    expect((await open(['MANY'])).get('MANY')).toBe(`value ${last}`);
    await remove('ONCE');
    await remove('MANY');
  });

  it('is one of as many as the policy allows; replacing needs no room', async () => {
    await send('operator', 'PUT', '/api/v1/admin/policies/secrets.max_per_project', { value: 2 });
    await api.services.policies.refresh();
    const answers = await Promise.all(['A', 'B', 'C', 'D'].map((name) => set(name, 'value')));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(2);
    const refused = answers.find(({ statusCode }) => statusCode !== 200)!;
    expect(refused.json()).toMatchObject({
      code: 'limit_reached',
      limit: 'secrets.max_per_project',
      maximum: 2,
    });
    const [kept] = await names();
    expect((await set(kept!, 'replaced')).statusCode).toBe(200);
    for (const name of await names()) await remove(name);
    await send('operator', 'DELETE', '/api/v1/admin/policies/secrets.max_per_project');
    await api.services.policies.refresh();
  });
});

describe('the values', () => {
  it('are opened by name, and a missing name is named', async () => {
    await set('ONE', 'first');
    await set('TWO', 'second');
    expect(await open(['TWO', 'ONE'])).toEqual(
      new Map([
        ['ONE', 'first'],
        ['TWO', 'second'],
      ]),
    );
    expect(await open([])).toEqual(new Map());
    const failure = await open(['ONE', 'NONE', 'NO_OTHER', 'NONE']).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MissingSecretsError);
    expect((failure as MissingSecretsError).names).toEqual(['NONE', 'NO_OTHER']);
  });

  it('can be read by one database role alone', async () => {
    const roles: DatabaseRole[] = [
      'gpuaas_tenant',
      'gpuaas_operator',
      'gpuaas_placement',
      'gpuaas_relay',
      'gpuaas_node',
      'gpuaas_gateway',
      'gpuaas_auth',
      'gpuaas_blobs',
    ];
    for (const role of roles) await expect(open(['ONE'], role), role).rejects.toThrow('permission denied');
    expect((await open(['ONE'])).size).toBe(1);
  });

  it('are sealed again with a new platform key, and bound to their row', async () => {
    const column = sealedColumns.find(({ table }) => table === 'project_secrets')!;
    const { db } = api.services;
    const first = randomBytes(32);
    const [old, rotated] = [new Sealer(fixedKeys(first)), new Sealer(fixedKeys(first, randomBytes(32)))];
    const rows = await db.selectFrom('project_secrets').select(['id', 'name', 'sealed_value']).execute();
    for (const { id, sealed_value: sealed } of rows) {
      const value = api.services.sealer.open('project_secret', sealed, column.context(id));
      await db
        .updateTable('project_secrets')
        .set({ sealed_value: old.seal('project_secret', value, column.context(id)) })
        .where('id', '=', id)
        .execute();
    }
    expect(await resealColumn(db, rotated, column)).toMatchObject({ seen: 2, resealed: 2, broken: [] });
    expect((await open(['ONE'], 'gpuaas_app_runtime', rotated)).get('ONE')).toBe('first');
    const [one, two] = rows as [(typeof rows)[0], (typeof rows)[0]];
    await db
      .updateTable('project_secrets')
      .set({
        sealed_value: (eb) =>
          eb.selectFrom('project_secrets').select('sealed_value').where('id', '=', two.id),
      })
      .where('id', '=', one.id)
      .execute();
    await expect(open([one.name], 'gpuaas_app_runtime', rotated)).rejects.toThrow();
  });

  it('go when their project is closed', async () => {
    const { organizationId } = api.people['admin']!;
    const project = await send('admin', 'POST', '/api/v1/projects', {
      organization_id: organizationId,
      name: 'p2',
    });
    const { id } = project.json<{ id: string }>();
    const made = await send('admin', 'PUT', `${PATH}/IN_IT`, { project_id: id, value: 'v' });
    expect(made.statusCode).toBe(200);
    expect((await send('admin', 'DELETE', `/api/v1/projects/${id}`)).statusCode).toBe(204);
    const left = await api.services.db
      .selectFrom('project_secrets')
      .select('name')
      .where('project_id', '=', id)
      .execute();
    expect(left).toEqual([]);
  });
});
