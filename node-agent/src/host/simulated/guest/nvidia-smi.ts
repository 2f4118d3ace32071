import { createHash } from 'node:crypto';
import type { VmPlan } from '../../../slices/plan-vm.ts';

const MEMORY_MIB = 143_771;
const DRIVER = '570.86.15';
const CUDA = '12.8';

interface Gpu {
  index: number;
  busId: string;
  uuid: string;
}

/** A shell script that answers the common questions as the real tool would, and says that it is simulated. */
export function nvidiaSmi(plan: VmPlan): string {
  const gpus = plan.slots.map((slot, index): Gpu => {
    const busId = `0000${slot.gpu_pci_address}`.toUpperCase();
    return { index, busId, uuid: gpuUuid(`${slot.nvme_serial}/${slot.gpu_pci_address}`) };
  });
  return `#!/bin/sh
# Simulated: there is no GPU behind these numbers.
case "$1" in
  -L|--list-gpus)
cat <<'END'
${gpus.map((gpu) => `GPU ${gpu.index}: NVIDIA H200 (UUID: ${gpu.uuid})`).join('\n')}
END
  ;;
  --query-gpu=*)
case "$*" in *noheader*) ;; *) echo 'index, name, pci.bus_id, uuid, memory.total [MiB]' ;; esac
cat <<'END'
${gpus.map((gpu) => `${gpu.index}, NVIDIA H200, ${gpu.busId}, ${gpu.uuid}, ${MEMORY_MIB} MiB`).join('\n')}
END
  ;;
  '')
cat <<'END'
${table(gpus)}
END
  ;;
  *) echo "nvidia-smi (simulated): knows -L, --query-gpu=... and no arguments" >&2; exit 2 ;;
esac
`;
}

/** The simulated images are known by their names; those for developers carry the toolkit. */
export function hasToolkit(plan: VmPlan): boolean {
  return plan.image.name.includes('cuda');
}

export function nvcc(): string {
  return `#!/bin/sh\n# Simulated: it compiles nothing.\necho 'Cuda compilation tools, release ${CUDA} (simulated)'\n`;
}

function table(gpus: readonly Gpu[]): string {
  const width = 88;
  const line = (left: string, right = ''): string => `| ${left}${right.padStart(width - 2 - left.length)} |`;
  const rule = `+${'-'.repeat(width)}+`;
  return [
    rule,
    line(`NVIDIA-SMI ${DRIVER} (simulated)`, `Driver ${DRIVER}   CUDA ${CUDA}`),
    rule,
    line('GPU  Name          Bus-Id             Temp  Pwr:Usage/Cap', 'Memory-Usage  GPU-Util'),
    rule,
    ...gpus.map((gpu) =>
      line(
        `${String(gpu.index).padStart(3)}  NVIDIA H200   ${gpu.busId}   27C    76W / 700W`,
        `0MiB / ${MEMORY_MIB}MiB        0%`,
      ),
    ),
    rule,
  ].join('\n');
}

function gpuUuid(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex');
  return `GPU-${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')}`;
}
