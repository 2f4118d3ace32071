import { sql } from 'kysely';
import type { AllocationRow } from '@gpuaas/control-plane/domains/allocations/transition-allocation';
import type { LaunchOrder } from '@gpuaas/control-plane/domains/allocations/launch/launch';
import type { AuditEntry } from '@gpuaas/control-plane/platform/audit/record';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { newId } from '@gpuaas/control-plane/platform/ids';

const MODEL = 'H200-SXM-141GB';
const REGION = 'uae-north-1';
const PER_GPU_HOUR = { currency: 'USD', micros: 2_990_000n };
/** One node in so many is leased whole. */
const BAREMETAL_SHARE = 10;
const SLICES = [1, 1, 1, 1, 2, 2, 4, 8];

/** A buyer: a project in its own tenant, with one user. */
export interface Buyer {
  organizationId: string;
  projectId: string;
  userId: string;
}

export function newBuyers(count: number): Buyer[] {
  return Array.from({ length: count }, () => ({
    organizationId: newId(),
    projectId: newId(),
    userId: newId(),
  }));
}

/** So many hosts of eight slots, connected and with nothing against them, and the buyers. */
export async function seedFleet(db: Db, nodes: number, buyers: readonly Buyer[]): Promise<void> {
  await sql`
    insert into organizations (id, name) select (b ->> 'organizationId')::uuid, 'bench'
    from jsonb_array_elements(${JSON.stringify(buyers)}) as b`.execute(db);
  await sql`
    insert into projects (id, organization_id, name)
    select (b ->> 'projectId')::uuid, (b ->> 'organizationId')::uuid, 'bench'
    from jsonb_array_elements(${JSON.stringify(buyers)}) as b`.execute(db);
  await sql`
    insert into users (id, issuer, subject, email, name)
    select (b ->> 'userId')::uuid, 'bench', b ->> 'userId', b ->> 'userId', 'bench'
    from jsonb_array_elements(${JSON.stringify(buyers)}) as b`.execute(db);
  await sql`
    insert into nodes (id, hostname, region, pool, rack, node_family, mode, last_heartbeat_at)
    select uuidv7(), 'host-' || place, ${REGION}, 'p', 'r', 'hgx-h200',
      case when place % ${BAREMETAL_SHARE} = 0 then 'baremetal' else 'slice' end, now() + interval '1 day'
    from generate_series(1, ${nodes}::integer) as place`.execute(db);
  await sql`
    insert into node_resource_slots (id, node_id, slot_index, state, gpu_model, gpu_pci_address,
      fabric_vf_pci_address, nvme_serial, nvme_device, management_mac, private_ip, ovs_port, numa_node, pcie_root,
      vcpu, memory_gib, capacity_metadata)
    select uuidv7(), n.id, place, 'available', ${MODEL}, 'gpu' || place, 'vf' || place, 'serial' || place,
      '/dev/nvme' || place, 'mac' || place, 'ip' || place, 'port' || place, place / 4, 'root' || place / 2,
      24, 64, '{"fabric_claim_mode": "per_slot_vf", "destructive_wipe_policy": "blkdiscard"}'
    from nodes n, generate_series(0, 7) as place`.execute(db);
}

/** The next request of a client, for one of the buyers: mostly slices, sometimes a whole node. */
export function randomOrder(random: () => number, buyers: readonly Buyer[]): LaunchOrder {
  const buyer = buyers[Math.floor(random() * buyers.length)]!;
  const whole = random() < 1 / 20;
  const gpus = whole ? 8 : SLICES[Math.floor(random() * SLICES.length)]!;
  const id = newId();
  return {
    allocation: {
      id,
      organization_id: buyer.organizationId,
      project_id: buyer.projectId,
      name: 'bench',
      sku: 'h200-sxm-slice',
      capacity_shape: whole ? 'baremetal' : 'gpu_slice',
      gpu_count: gpus,
      image: 'H200-ubuntu-24.04-gpuaas-slice',
      image_digest: 'sha256:0',
      region: REGION,
      currency: PER_GPU_HOUR.currency,
      per_gpu_hour_micros: PER_GPU_HOUR.micros,
      price_id: '019a8000-0000-7000-8000-000000000001',
      created_by: buyer.userId,
      owner_user_id: buyer.userId,
      ssh_authorized_keys: [],
      tags: [],
      correlation_id: id,
    },
    request: {
      shape: whole ? 'baremetal' : 'gpu_slice',
      gpus,
      region: REGION,
      gpuModel: MODEL,
      now: 0,
      endsAt: Infinity,
    },
    offer: { allowedGpuCounts: [1, 2, 3, 4, 5, 6, 7, 8], perGpuHour: PER_GPU_HOUR, gpuModel: MODEL },
    whenUnavailable: 'fail',
    queuedRow: null,
    commitExtras: (sold) => ({ audit: auditOf(buyer, sold), answer: null }),
    funds: {
      organizationId: buyer.organizationId,
      projectId: buyer.projectId,
      perHour: { currency: 'USD', micros: PER_GPU_HOUR.micros * BigInt(gpus) },
      seconds: 3600,
      keptSeconds: 14_400,
      availableMicros: 10n ** 15n,
      paid: true,
    },
    userData: null,
    charge: {
      organizationId: buyer.organizationId,
      projectId: buyer.projectId,
      launchedBy: buyer.userId,
      ownerUserId: buyer.userId,
      gpuModel: MODEL,
      gpus,
      perHour: { currency: 'USD', micros: PER_GPU_HOUR.micros * BigInt(gpus) },
    },
  };
}

function auditOf(buyer: Buyer, { id: allocationId, node_id }: AllocationRow): AuditEntry {
  return {
    actorUserId: buyer.userId,
    actorRole: 'tenant_member',
    action: 'allocation.create',
    targetType: 'allocation',
    targetId: allocationId,
    organizationId: buyer.organizationId,
    result: 'succeeded',
    correlationId: allocationId,
    detail: { sku: 'h200-sxm-slice', node_id },
  };
}

/** Yields the same numbers for every variant. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
