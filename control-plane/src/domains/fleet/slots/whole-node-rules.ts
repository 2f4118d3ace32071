import type { TaskOutput } from '@gpuaas/contracts/tasks';
import type { ApprovalViolation } from './approval-rules.ts';

type Discovery = TaskOutput['slice.topology_discover'];
type InventoryGpu = NonNullable<Discovery['inventory']>['gpus'][number];

export interface WholeNodeContext {
  mode: string | null;
  /** GPU models and sizes that whole-node products are defined for. */
  products: readonly { gpuModel: string; gpusTotal: number }[];
}

/** One GPU of the offer. */
export interface WholeNodeUnit {
  slot_index: number;
  gpu_model: string;
  gpu_pci_address: string;
  gpu_serial: string | null;
  numa_node: number;
  pcie_root: string;
  vcpu: number;
  memory_gib: number;
}

const KIB_PER_GIB = 1024 * 1024;

/** The GPUs of a host as its inventory shows them, each with its share of processors and memory. */
export function wholeNodeUnits({ inventory, candidates }: Discovery): WholeNodeUnit[] {
  const gpus = knownGpus(inventory?.gpus ?? []);
  return gpus.map((gpu, index) => ({
    slot_index: index,
    gpu_model: gpu.model,
    gpu_pci_address: gpu.pci_address,
    gpu_serial: candidates.find((slot) => slot.gpu_pci_address === gpu.pci_address)?.gpu_serial ?? null,
    numa_node: gpu.numa_node,
    pcie_root: gpu.pcie_path[0] ?? 'unknown',
    vcpu: Math.max(1, Math.floor((inventory?.cpu.threads ?? 0) / gpus.length)),
    memory_gib: Math.max(1, Math.floor((inventory?.memory_kib ?? 0) / KIB_PER_GIB / gpus.length)),
  }));
}

/** Why the host cannot be offered as a whole; empty if it can. */
export function wholeNodeViolations(
  discovery: Discovery,
  { mode, products }: WholeNodeContext,
): ApprovalViolation[] {
  const found: ApprovalViolation[] = [];
  const miss = (pointer: string, code: string, detail: string): void =>
    void found.push({ pointer, code, detail });
  if (mode !== 'baremetal')
    miss('', 'node_not_in_baremetal_mode', 'The host is not in baremetal mode; convert it first.');
  const units = wholeNodeUnits(discovery);
  const models = [...new Set(units.map((unit) => unit.gpu_model))];
  if (units.length === 0) miss('/inventory/gpus', 'gpu_missing', 'The inventory has no GPU that we know.');
  if (models.length > 1)
    miss('/inventory/gpus', 'gpu_models_differ', `The host has several GPU models: ${models.join(', ')}.`);
  const [model] = models;
  if (model && !products.some(({ gpuModel, gpusTotal }) => gpuModel === model && gpusTotal === units.length))
    miss('/inventory/gpus', 'product_missing', `No whole-node product has ${units.length} ${model}.`);
  for (const lost of discovery.left_out.filter(({ code }) => code === 'gpu_lost'))
    miss('/inventory/gpus', 'gpu_lost', `The GPU at ${lost.device} does not answer on the bus.`);
  return found;
}

function knownGpus(gpus: readonly InventoryGpu[]): (InventoryGpu & { model: string })[] {
  return gpus.flatMap((gpu) => (gpu.model === null ? [] : [{ ...gpu, model: gpu.model }]));
}
