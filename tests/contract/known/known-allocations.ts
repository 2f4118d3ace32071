import { issueCertificates } from '@gpuaas/control-plane/domains/allocations/certificates/issue-certificates';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import type { TestApi } from '../../harness/api.ts';
import { candidate } from '../../harness/fleet/fleet.ts';
import type { KnownValues } from '../known-resources.ts';

export async function seedActiveAllocation({ services, people }: TestApi): Promise<string> {
  const id = await seedAllocation(services.db, people['member']!);
  const connection = {
    username: 'ubuntu',
    host_key_fingerprint: 'SHA256:fuzz',
    mac: '52:54:00:00:00:01',
    expected_ip: '10.0.0.11',
    actual_ip: '10.0.0.11',
    lease_state: 'bound',
  };
  await services.db
    .updateTable('allocations')
    .set({ connection: JSON.stringify(connection) })
    .where('id', '=', id)
    .execute();
  return id;
}

/** One that a port of a public address leads to. */
export async function seedIngress(api: TestApi, nodeId: string): Promise<KnownValues> {
  const { services, people } = api;
  const [allocationId, id] = [await seedActiveAllocation(api), newId()];
  const { projectId, organizationId } = people['member']!;
  await services.db
    .updateTable('allocations')
    .set({ node_id: nodeId })
    .where('id', '=', allocationId)
    .execute();
  await services.db
    .insertInto('public_ingresses')
    .values({
      id,
      organization_id: organizationId!,
      project_id: projectId!,
      allocation_id: allocationId,
      node_id: nodeId,
      protocol: 'tcp',
      public_address: '203.0.113.1',
      public_port: 443,
      machine_port: 443,
      state: 'attached',
      created_by: newId(),
    })
    .execute();
  return { allocation_id: [allocationId], ingress_id: [id] };
}

/** One whose terminal was recorded. */
export async function seedRecordedAllocation(
  api: TestApi,
): Promise<{ allocationId: string; recordingId: string }> {
  const [allocationId, recordingId] = [await seedActiveAllocation(api), newId()];
  const { services, people } = api;
  const { projectId, organizationId } = people['member']!;
  await services.db
    .insertInto('terminal_recordings')
    .values({
      id: recordingId,
      organization_id: organizationId!,
      project_id: projectId!,
      allocation_id: allocationId,
      actor_id: newId(),
      started_at: new Date(),
    })
    .execute();
  const sealed = services.sealer.seal('terminal_recording', '{"version":2}\n', `${recordingId} 0`);
  await services.db
    .insertInto('terminal_recording_parts')
    .values({ recording_id: recordingId, part: 0, sealed })
    .execute();
  return { allocationId, recordingId };
}

export async function seedEndingAllocation(api: TestApi): Promise<string> {
  const id = await seedActiveAllocation(api);
  await api.services.db
    .updateTable('allocations')
    .set({ ends_at: new Date(Date.now() + 3_600_000) })
    .where('id', '=', id)
    .execute();
  return id;
}

export async function seedReservation({ services, people }: TestApi): Promise<string> {
  const { projectId, organizationId } = people['member']!;
  const id = newId();
  const owner = await services.db.selectFrom('users').select('id').limit(1).executeTakeFirstOrThrow();
  await services.db
    .insertInto('capacity_reservations')
    .values({
      id,
      organization_id: organizationId!,
      project_id: projectId!,
      sku: 'h200-sxm-slice',
      region: 'uae-north-1',
      node_count: 1,
      starts_at: new Date(Date.now() + 3_600_000),
      ends_at: new Date(Date.now() + 7_200_000),
      reason: 'fuzz',
      created_by: owner.id,
    })
    .execute();
  return id;
}

export async function seedWipeCertificate(api: TestApi, slotId: string): Promise<KnownValues> {
  const { services } = api;
  const [id, allocationId, now] = [newId(), await seedActiveAllocation(api), new Date()];
  await services.db
    .insertInto('wipe_certificates')
    .values({
      id,
      allocation_id: allocationId,
      slot_id: slotId,
      slot_index: 0,
      witnessed_by: newId(),
      device_serial: candidate(0).nvme_serial!,
      method: 'shredded',
      verified: true,
      verification: 'seen',
      started_at: now,
      finished_at: now,
    })
    .execute();
  await services.db.transaction().execute((tx) => issueCertificates(services, tx, [id]));
  return { allocation_id: [allocationId], certificate_id: [id] };
}
