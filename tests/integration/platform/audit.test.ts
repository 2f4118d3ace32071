import { createHash } from 'node:crypto';
import { verifyCanonical } from '@gpuaas/contracts/signing';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { hashStatement } from '@gpuaas/control-plane/platform/audit/chain';
import { sealAll, writeRows } from '@gpuaas/control-plane/platform/audit/testing/audit-rows';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';

type Page = { items: components['schemas']['AuditLog'][]; next_page: string | null };
interface Line {
  cursor: string;
  row?: Record<string, string | null>;
  hash?: string;
  checkpoint?: components['schemas']['AuditCheckpoint']['checkpoint'];
  signature?: string;
}

const OLD_ROWS = 1200;
let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  const { db, keys } = api.services;
  await sql`select create_month_partitions('2024-05-15', 0)`.execute(db);
  await writeRows(db, OLD_ROWS, `'2024-05-15'`);
  await inject('admin', 'PUT', `organizations/${tenant()}/policies/terminal.token_ttl_seconds`, {
    value: 60,
  });
  await inject('other', 'PUT', `organizations/${tenant()}/policies/terminal.token_ttl_seconds`, {
    value: 60,
  });
  await sealAll(db, keys.audit, OLD_ROWS + 2);
});
afterAll(() => api?.stop());

const tenant = (): string => api.people['admin']!.organizationId!;

async function inject(person: string, method: 'GET' | 'POST' | 'PUT', path: string, payload?: object) {
  return await api.server.inject({
    method,
    url: `/api/v1/${path}`,
    headers: { authorization: `Bearer ${api.people[person]!.apiKey}` },
    ...(payload ? { payload } : {}),
  });
}

it('the export gives every sealed row once, however often it is cut off, and can be checked with the key alone', async () => {
  const lines: Line[] = [];
  for (;;) {
    const after = lines.length === 0 ? '' : `&after=${lines.at(-1)!.cursor}`;
    const answer = await inject('operator', 'GET', `admin/audit-logs/export?segments=2${after}`);
    expect(answer.statusCode).toBe(200);
    const got = answer.body.split('\n').filter(Boolean);
    if (got.length === 0) break;
    // The connection broke in the middle of what was sent.
    const kept = got.slice(0, Math.max(1, Math.floor(got.length * 0.7)));
    lines.push(...kept.map((line) => JSON.parse(line) as Line));
  }
  expect(new Set(lines.map((line) => line.cursor)).size).toBe(lines.length);
  expect(lines.filter((line) => line.row)).toHaveLength(OLD_ROWS + 2);
  const body = (await inject('operator', 'GET', 'admin/audit-logs/checkpoints')).json<{
    public_key_pem: string;
  }>();
  let head: Buffer = Buffer.alloc(32);
  for (const { row, hash, checkpoint, signature } of lines) {
    if (row) {
      const own = createHash('sha256')
        .update(JSON.stringify(Object.values(row)))
        .digest('hex');
      expect(own).toBe(hash);
      head = createHash('sha256')
        .update(Buffer.concat([head, Buffer.from(hash!, 'hex')]))
        .digest();
    } else {
      expect(head.toString('hex')).toBe(checkpoint!.head_hash);
      expect(verifyCanonical(checkpoint!, signature!, body.public_key_pem)).toBe(true);
      head = hashStatement(checkpoint!);
    }
  }
});

it('lists the log with filters, and a tenant its own part alone', async () => {
  const query = 'action=tenant_policy.set&target_type=policy&result=succeeded';
  const all = (await inject('operator', 'GET', `admin/audit-logs?${query}`)).json<Page>();
  expect(all.items).toHaveLength(1);
  expect(all.items[0]).toMatchObject({
    before: { value: null },
    after: { value: 60 },
    organization_id: tenant(),
  });
  const denied = (await inject('operator', 'GET', 'admin/audit-logs?result=denied')).json<Page>();
  expect(denied.items[0]).toMatchObject({ action: 'tenant_policy.set', actor_kind: 'user' });
  const own = (await inject('admin', 'GET', `organizations/${tenant()}/audit-logs`)).json<Page>();
  expect(own.items.map((item) => item.organization_id)).toEqual([tenant()]);
  expect((await inject('other', 'GET', `organizations/${tenant()}/audit-logs`)).statusCode).toBe(404);
  expect((await inject('member', 'GET', `organizations/${tenant()}/audit-logs`)).statusCode).toBe(403);
  const first = (await inject('operator', 'GET', 'admin/audit-logs?limit=100')).json<Page>();
  const second = (
    await inject('operator', 'GET', `admin/audit-logs?limit=100&page=${first.next_page}`)
  ).json<Page>();
  expect(new Set([...first.items, ...second.items].map((item) => item.id)).size).toBe(200);
});

it('verifies for auditors in parts, and shows what was found', async () => {
  const first = (await inject('operator', 'GET', 'admin/audit-logs/verification?segments=1')).json<
    components['schemas']['AuditVerification']
  >();
  expect(first).toMatchObject({ whole: true, segments: 1, next_segment: 2 });
  const { db } = api.services;
  await sql`alter table audit_logs_2024_05 disable trigger all`.execute(db);
  await sql`update audit_logs_2024_05 set action = 'x' where target_id = 'node-7'`.execute(db);
  const all = (await inject('operator', 'GET', 'admin/audit-logs/verification?segments=50')).json<
    components['schemas']['AuditVerification']
  >();
  expect(all).toMatchObject({ whole: false, findings: [{ kind: 'row_changed' }] });
  await sql`update audit_logs_2024_05 set action = 'slot.approve' where target_id = 'node-7'`.execute(db);
  expect((await inject('admin', 'GET', 'admin/audit-logs/verification')).statusCode).toBe(403);
});

it('a month is confirmed by the head that its export ends with', async () => {
  const list = (await inject('operator', 'GET', 'admin/audit-logs/checkpoints')).json<{
    items: components['schemas']['AuditCheckpoint'][];
  }>();
  const head = list.items.find((item) => item.checkpoint.month === '2024-05-01')!.checkpoint.head_hash;
  const confirm = (month: string, head_hash: string) =>
    inject('operator', 'POST', 'admin/audit-logs/export-confirmations', { month, head_hash });
  expect((await confirm('2024-05', 'a'.repeat(64))).statusCode).toBe(409);
  expect((await confirm('2023-01', head)).statusCode).toBe(409);
  const confirmed = await confirm('2024-05', head);
  expect(confirmed.statusCode, confirmed.body).toBe(201);
  expect(confirmed.json()).toMatchObject({ month: '2024-05', row_count: OLD_ROWS });
  const thisMonth = new Date().toISOString().slice(0, 7);
  expect((await confirm(thisMonth, list.items[0]!.checkpoint.head_hash)).statusCode).toBe(409);
});
