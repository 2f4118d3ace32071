import { createHash } from 'node:crypto';
import type { VmPlan } from '../../../slices/plan-vm.ts';
import { GUEST_GPU } from './sandbox.ts';

const MEMORY_MIB = 143_771;
const DRIVER = '570.86.15';
const CUDA = '12.8';

interface Gpu {
  index: number;
  busId: string;
  uuid: string;
}

/** UUIDs of the machine's GPUs, by index. */
export function gpuUuids(plan: VmPlan): string[] {
  return plan.slots.map((slot) => gpuUuid(`${slot.nvme_serial}/${slot.gpu_pci_address}`));
}

/** What `--query-gpu` knows: shell words of the value, and the unit that its header and value show. */
const FIELDS: Readonly<Record<string, { value: string; unit?: string }>> = {
  index: { value: '$index' },
  count: { value: '$count' },
  name: { value: 'NVIDIA H200' },
  gpu_name: { value: 'NVIDIA H200' },
  uuid: { value: '$uuid' },
  gpu_uuid: { value: '$uuid' },
  'pci.bus_id': { value: '$bus' },
  gpu_bus_id: { value: '$bus' },
  driver_version: { value: DRIVER },
  'utilization.gpu': { value: '$use', unit: '%' },
  'utilization.memory': { value: '0', unit: '%' },
  'memory.total': { value: String(MEMORY_MIB), unit: 'MiB' },
  'memory.used': { value: '0', unit: 'MiB' },
  'memory.free': { value: String(MEMORY_MIB), unit: 'MiB' },
  'temperature.gpu': { value: '27' },
  'power.draw': { value: '76.00', unit: 'W' },
};

/** A shell script that answers the common queries as the real tool would, and states that it is simulated. */
export function nvidiaSmi(plan: VmPlan): string {
  const uuids = gpuUuids(plan);
  const gpus = plan.slots.map((slot, index): Gpu => {
    const busId = `0000${slot.gpu_pci_address}`.toUpperCase();
    return { index, busId, uuid: uuids[index] ?? '' };
  });
  const facts = gpus.map(({ index, busId, uuid }) => `${index}) bus=${busId} uuid=${uuid} ;;`);
  const values = Object.entries(FIELDS).map(
    ([name, { value, unit }]) =>
      `${name}) header='${name}${unit ? ` [${unit}]` : ''}' value="${value}" unit='${unit ?? ''}' ;;`,
  );
  return `#!/bin/sh
# Simulated: there is no GPU behind these numbers. A GPU is as busy as the processes whose CUDA_VISIBLE_DEVICES names it.
count=${gpus.length}
gpu() {
index=$1 use=$(sed -n "$(($1 + 1))p" ${GUEST_GPU}/use 2>/dev/null)
use=\${use:-0}
case "$index" in
${facts.join('\n')}
esac
}
field() {
case "$1" in
${values.join('\n')}
*) echo "Field \\"$1\\" is not a valid field to query." >&2; exit 2 ;;
esac
}
query() {
fields=$(echo "$1" | tr ',' ' ') line=
gpu 0
for name in $fields; do field "$name"; line="$line\${line:+, }$header"; done
case "$2" in *noheader*) ;; *) echo "$line" ;; esac
each=0
while [ $each -lt $count ]; do
gpu $each
line=
for name in $fields; do
field "$name"
case "$2" in *nounits*) unit= ;; esac
line="$line\${line:+, }$value\${unit:+ $unit}"
done
echo "$line"
each=$((each + 1))
done
}
case "$1" in
  -L|--list-gpus)
cat <<'END'
${gpus.map((gpu) => `GPU ${gpu.index}: NVIDIA H200 (UUID: ${gpu.uuid})`).join('\n')}
END
  ;;
  --query-gpu=*) query "\${1#--query-gpu=}" "$*" ;;
  '')
${table(gpus)}
  ;;
  *) echo "nvidia-smi (simulated): knows -L, --query-gpu=... and no arguments" >&2; exit 2 ;;
esac
`;
}

/** The simulated images are recognised by name; the developer images include the toolkit. */
export function hasToolkit(plan: VmPlan): boolean {
  return plan.image.name.includes('cuda');
}

export function nvcc(): string {
  return `#!/bin/sh\n# Simulated: it compiles nothing.\necho 'Cuda compilation tools, release ${CUDA} (simulated)'\n`;
}

/** Shell lines that print the table of all GPUs. */
function table(gpus: readonly Gpu[]): string {
  const width = 88;
  const line = (left: string, right = ''): string => `| ${left}${right.padStart(width - 2 - left.length)} |`;
  const rule = `+${'-'.repeat(width)}+`;
  const print = (text: string): string => `echo '${text}'`;
  return [
    ...[rule, line(`NVIDIA-SMI ${DRIVER} (simulated)`, `Driver ${DRIVER}   CUDA ${CUDA}`), rule].map(print),
    print(line('GPU  Name          Bus-Id             Temp  Pwr:Usage/Cap', 'Memory-Usage  GPU-Util')),
    print(rule),
    ...gpus.map(({ index, busId }) => {
      const left = `${String(index).padStart(3)}  NVIDIA H200   ${busId}   27C    76W / 700W`;
      const row = line(left, `0MiB / ${MEMORY_MIB}MiB       @@@%`).replace('@@@%', '%3s%%');
      return `gpu ${index}; printf '${row}\\n' "$use"`;
    }),
    print(rule),
  ].join('\n');
}

function gpuUuid(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex');
  return `GPU-${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')}`;
}
