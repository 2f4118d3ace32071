import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signSome } from '@gpuaas/control-plane/domains/allocations/certificates/sign-remaining';
import { verifyCertificates } from '@gpuaas/control-plane/domains/allocations/certificates/verify-certificates';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';
import type { SignedWipeCertificate } from '@gpuaas/sdk/wipe-certificates';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, release, waitForState } from '../../harness/allocations/allocations.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const MAIN = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url));

let platform: TestPlatform;
let folder: string;
let allocationId: string;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  folder = await mkdtemp(join(tmpdir(), 'gpuaas-certificates-'));
  allocationId = await launchAndRelease(2);
});
afterAll(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function launchAndRelease(gpus: number): Promise<string> {
  const { id } = await launch(platform.member, platform.projectId, gpus);
  await waitForState(platform.member, id, 'active');
  await release(platform.member, id);
  await waitForState(platform.member, id, 'released');
  return id;
}

function gpuaas(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

const signedIn = (key: string) => ({ GPUAAS_URL: platform.baseUrl, GPUAAS_API_KEY: key });
const verify = (...files: string[]) =>
  gpuaas(['certificates', 'verify', '--keys', join(folder, 'keys.json'), ...files]);

async function saveKeys(): Promise<void> {
  const keys = await gpuaas(['certificates', 'keys'], {
    GPUAAS_URL: platform.baseUrl,
    GPUAAS_API_KEY: 'none',
  });
  expect(keys).toMatchObject({ code: 0 });
  await writeFile(join(folder, 'keys.json'), keys.stdout);
}

async function listed(id = allocationId) {
  const params = { path: { allocation_id: id } };
  const { items } = await unwrap(
    platform.member.GET('/api/v1/allocations/{allocation_id}/wipe-certificates', { params }),
  );
  return items;
}

describe('wipe certificates', () => {
  it('name device, method, proof, tools and times, one per slot', async () => {
    const items = await listed();
    expect(items).toHaveLength(2);
    expect(new Set(items.map((item) => item.device_serial)).size).toBe(2);
    for (const item of items) {
      expect(item).toMatchObject({ verified: true, issued_at: expect.any(String) });
      expect(item.tools.map((tool) => tool.name)).toEqual(['gpuaas-node-agent', 'simulated-disk']);
      const params = { path: { allocation_id: allocationId, certificate_id: item.id } };
      const { certificate } = await unwrap(
        platform.member.GET('/api/v1/allocations/{allocation_id}/wipe-certificates/{certificate_id}', {
          params,
        }),
      );
      expect(certificate).toMatchObject({
        certificate_id: item.id,
        device_serial: item.device_serial,
        method: item.method,
        verification: item.verification,
        tools: item.tools,
        started_at: item.started_at,
        finished_at: item.finished_at,
        proven_by: 'host',
      });
    }
  });

  it('are listed by the page, none twice and none left out', async () => {
    const pages = paginate((page) =>
      unwrap(
        platform.member.GET('/api/v1/allocations/{allocation_id}/wipe-certificates', {
          params: { path: { allocation_id: allocationId }, query: { limit: 1, ...page } },
        }),
      ),
    );
    const ids: string[] = [];
    for await (const { id } of pages) ids.push(id);
    expect(ids).toEqual((await listed()).map(({ id }) => id));
  });

  it('are visible only to the tenant whose data it was', async () => {
    const [first] = await listed();
    const path = `/api/v1/allocations/${allocationId}/wipe-certificates/${first!.id}`;
    for (const suffix of ['', '/printable']) {
      const ask = (key: string) =>
        fetch(`${platform.baseUrl}${path}${suffix}`, { headers: { authorization: `Bearer ${key}` } });
      expect((await ask(platform.keys.member)).status).toBe(200);
      expect((await ask(platform.keys.other)).status).toBe(404);
    }
  });

  it('print as a page that runs and loads nothing', async () => {
    const [first] = await listed();
    const answer = await fetch(
      `${platform.baseUrl}/api/v1/allocations/${allocationId}/wipe-certificates/${first!.id}/printable`,
      { headers: { authorization: `Bearer ${platform.keys.member}` } },
    );
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    const page = await answer.text();
    expect(page).toContain(first!.device_serial);
    expect(page).not.toMatch(/<script|src=|href=/);
  });

  it('are checked without the platform, and any change shows', async () => {
    await saveKeys();
    const saved = await gpuaas(
      ['certificates', 'download', allocationId, '--to', folder, '--json'],
      signedIn(platform.keys.member),
    );
    const { files } = JSON.parse(saved.stdout) as { files: string[] };
    expect(await verify(...files)).toMatchObject({ code: 0, stdout: '2 checked, all valid\n' });

    const signed = JSON.parse(await readFile(files[0]!, 'utf8')) as SignedWipeCertificate;
    const forged = join(folder, 'forged.json');
    const certificate = { ...signed.certificate, device_serial: 'ANOTHER-DISK' };
    await writeFile(forged, JSON.stringify({ ...signed, certificate }));
    const refused = await verify(forged);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stdout).toContain('signature_wrong');
  });

  it('form one chain for auditors, across a change of the key and for records from before it', async () => {
    const { services, operator } = platform;
    const before = await unwrap(
      operator.POST('/api/v1/admin/wipe-certificate-keys', { body: { reason: 'yearly' } }),
    );
    await launchAndRelease(1);
    await addUnsignedRecord();
    expect((await verifyCertificates(services.db)).unsigned).toBe(1);
    await signSome(services);
    expect(await verifyCertificates(services.db)).toMatchObject({
      certificates: 4,
      unsigned: 0,
      findings: [],
    });

    await saveKeys();
    const chain = await gpuaas(['certificates', 'chain'], signedIn(platform.keys.operator));
    const lines = chain.stdout.trim().split('\n');
    const keyIds = lines.map((line) => (JSON.parse(line) as SignedWipeCertificate).certificate.key_id);
    expect(keyIds.slice(2)).toEqual([before.key_id, before.key_id]);
    expect(new Set(keyIds).size).toBe(2);
    const file = join(folder, 'chain.jsonl');
    await writeFile(file, lines.join('\n'));
    expect(await verify('--chain', file)).toMatchObject({ code: 0 });
    await writeFile(file, lines.toSpliced(1, 1).join('\n'));
    const broken = await verify('--chain', file);
    expect(broken).toMatchObject({ code: 1 });
    expect(broken.stdout).toContain('certificate_missing');
  });

  it('name the policy of each slot, if the disks of one machine have several', async () => {
    const { db } = platform.services;
    const slots = await db
      .selectFrom('node_resource_slots')
      .select(['id', 'slot_index', 'capacity_metadata'])
      .execute();
    const policyOf = (index: number): string => (index % 2 === 0 ? 'nvme_format' : 'overwrite');
    for (const { id, slot_index, capacity_metadata } of slots) {
      const metadata = { ...(capacity_metadata as object), destructive_wipe_policy: policyOf(slot_index) };
      await db
        .updateTable('node_resource_slots')
        .set({ capacity_metadata: JSON.stringify(metadata) })
        .where('id', '=', id)
        .execute();
    }
    const items = await listed(await launchAndRelease(2));
    const indexOf = new Map(slots.map(({ id, slot_index }) => [id, slot_index]));
    expect(items.map(({ method }) => method).toSorted()).toEqual(['nvme_format', 'overwrite']);
    for (const { slot_id, method } of items) expect(method).toBe(policyOf(indexOf.get(slot_id)!));
  });
});

/** As a platform had them before there were certificates. */
async function addUnsignedRecord(): Promise<void> {
  const { db } = platform.services;
  const old = await db.selectFrom('wipe_certificates').selectAll().limit(1).executeTakeFirstOrThrow();
  await db
    .insertInto('wipe_certificates')
    .values({
      ...old,
      id: newId(),
      node_task_id: null,
      witnessed_by: newId(),
      tools: '[]',
      recorded_at: new Date(0),
    })
    .execute();
}
