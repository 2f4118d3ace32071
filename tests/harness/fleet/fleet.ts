import type { CandidateSlot, TaskKind, TaskOutput } from '@gpuaas/contracts/tasks';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { TestApi } from '../api.ts';

/** Hosts made so far: no two of them have a disk of the same serial. */
let hosts = 0;

/** A complete bundle as the host that was added last would report it. */
export function candidate(slotIndex: number, change: Partial<CandidateSlot> = {}): CandidateSlot {
  const digit = slotIndex.toString(16);
  return {
    slot_index: slotIndex,
    gpu_model: 'H200-SXM-141GB',
    gpu_pci_address: `0000:1${digit}:00.0`,
    iommu_group: slotIndex,
    fabric_vf_pci_address: `0000:2${digit}:00.1`,
    nvme_serial: `S6CKN0T${hosts.toString(16).padStart(3, '0')}${digit}`,
    nvme_device: `/dev/disk/by-id/nvme-${digit}`,
    nvme_mounts: [],
    management_mac: `52:54:00:00:00:0${digit}`,
    private_ip: `10.0.0.1${slotIndex}`,
    ovs_port: `vm${slotIndex}`,
    numa_node: 0,
    pcie_root: 'pci0000:10',
    ...change,
  };
}

/** A host that enrolled and reports itself; promoted to slices unless the test asks for another mode. */
export async function addNode(
  { services }: TestApi,
  change: { hostname?: string; mode?: 'slice' | 'baremetal' | null } = {},
): Promise<string> {
  hosts += 1;
  const id = newId();
  await services.db
    .insertInto('nodes')
    .values({
      id,
      hostname: change.hostname ?? `n-${id.slice(-12)}`,
      region: 'uae-north-1',
      pool: 'default',
      rack: 'r1',
      node_family: 'hgx-h200',
      mode: change.mode === undefined ? 'slice' : change.mode,
      last_heartbeat_at: services.clock.now(),
    })
    .execute();
  return id;
}

/** A task in the state that only an agent could have brought it to. */
export async function addFinishedTask<K extends TaskKind>(
  { services }: TestApi,
  nodeId: string,
  kind: K,
  output: TaskOutput[K],
): Promise<string> {
  const id = newId();
  const now = services.clock.now();
  await services.db
    .insertInto('node_tasks')
    .values({
      id,
      node_id: nodeId,
      subject_type: 'node',
      subject_id: nodeId,
      kind,
      params: '{}',
      state: 'succeeded',
      epoch: 1,
      claimed_at: now,
      finished_at: now,
      output: JSON.stringify(output),
      correlation_id: newId(),
      expires_at: new Date(now.getTime() + 60_000),
    })
    .execute();
  return id;
}

export async function addDiscovery(
  api: TestApi,
  nodeId: string,
  candidates: CandidateSlot[],
): Promise<string> {
  return await addFinishedTask(api, nodeId, 'slice.topology_discover', discovered(candidates));
}

/** What a discovery reports of a host with these candidates. */
export function discovered(candidates: readonly CandidateSlot[]): TaskOutput['slice.topology_discover'] {
  return {
    approval_required: true,
    candidates: [...candidates],
    left_out: [],
    inventory: {
      cpu: { model: 'model', sockets: 2, cores: 112, threads: 224, numa: [] },
      memory_kib: 2 * 1024 ** 3,
      hugepages: [],
      gpus: candidates.map((slot) => ({
        pci_address: slot.gpu_pci_address,
        device_id: '10de:2335',
        model: slot.gpu_model,
        driver: null,
        numa_node: slot.numa_node,
        pcie_path: [slot.pcie_root],
        iommu_group: slot.iommu_group,
        iommu_group_others: [],
      })),
      fabrics: [],
      disks: [],
      bluefield: [],
      ovs_bridges: [],
    },
  };
}

/** Offers a host in baremetal mode as its latest discovery shows it. */
export async function offerWholeNode(api: TestApi, nodeId: string) {
  const discovery = await ask<{ task: { id: string } }>(
    api,
    'operator',
    'GET',
    `/nodes/${nodeId}/slice-topology/discovery`,
  );
  return await ask<{ items: { id: string; state: string }[] }>(
    api,
    'operator',
    'POST',
    `/nodes/${nodeId}/whole-node-offer`,
    { discovery_task_id: discovery.body.task.id },
  );
}

type Check = TaskOutput['slice.prereq_check']['checks'][number];

export const CHECKS: Check['id'][] = [
  'iommu',
  'vfio',
  'sriov',
  'ovs',
  'libvirt',
  'uefi',
  'cloud_init_tools',
  'rdma_tools',
  'image_cache',
  'hugepages',
  'secure_boot',
  'reboot_required',
];

export async function addReadiness(
  api: TestApi,
  nodeId: string,
  missing: Check['id'][] = [],
): Promise<string> {
  const checks = CHECKS.map((id): Check => ({
    id,
    state: missing.includes(id) ? 'missing' : 'ok',
    evidence: missing.includes(id) ? `no ${id} here` : `${id} is there`,
    remedy: null,
  }));
  return await addFinishedTask(api, nodeId, 'slice.prereq_check', {
    ready: missing.length === 0,
    reboot_required: missing.includes('reboot_required'),
    checked_at: api.services.clock.now().toISOString(),
    checks,
  });
}

export interface Answer<T> {
  status: number;
  body: T;
  headers: Record<string, unknown>;
}

/** A request as one of the demo people. */
export async function ask<T = Record<string, unknown>>(
  api: TestApi,
  person: string,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  payload?: object,
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  const answer = await api.server.inject({
    method,
    url: `/api/v1/admin${url}`,
    headers: { authorization: `Bearer ${api.people[person]!.apiKey}`, ...headers },
    ...(payload ? { payload } : {}),
  });
  return {
    status: answer.statusCode,
    body: answer.body ? answer.json<T>() : (undefined as T),
    headers: answer.headers,
  };
}

/** Approves every candidate of a fresh discovery. */
export async function approveAll(api: TestApi, nodeId: string, candidates: CandidateSlot[]) {
  const discovery_task_id = await addDiscovery(api, nodeId, candidates);
  return await ask<{ items: { id: string; slot_index: number; state: string }[] }>(
    api,
    'operator',
    'POST',
    `/nodes/${nodeId}/resource-slots/approve`,
    { discovery_task_id, destructive_wipe_policy: 'blkdiscard' },
  );
}
