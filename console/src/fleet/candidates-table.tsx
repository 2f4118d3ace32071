import type { CandidateSlot } from '../api/types.ts';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Code } from '../ui/facts.tsx';

const COLUMNS: Column<CandidateSlot>[] = [
  { header: 'Slot', cell: ({ slot_index: index }) => index },
  { header: 'GPU', cell: ({ gpu_pci_address: pci }) => <Code>{pci}</Code> },
  { header: 'NUMA', cell: ({ numa_node: numa }) => numa, align: 'right', from: 'sm' },
  { header: 'Fabric VF', cell: ({ fabric_vf_pci_address: vf }) => <Part value={vf} />, from: 'md' },
  { header: 'NVMe', cell: (candidate) => <Disk {...candidate} /> },
  { header: 'Network', cell: (candidate) => <Network {...candidate} />, from: 'lg' },
];

export function CandidatesTable({ candidates }: { candidates: CandidateSlot[] }) {
  return (
    <DataTable
      label="Candidate slots"
      columns={COLUMNS}
      rows={candidates}
      rowKey={({ slot_index: index }) => String(index)}
    />
  );
}

function Part({ value }: { value: string | null }) {
  return value ? <Code>{value}</Code> : <span className="tone-danger text-tone-text">None found</span>;
}

function Disk({ nvme_serial: serial, nvme_mounts: mounts }: CandidateSlot) {
  return (
    <span className="flex flex-col">
      <Part value={serial} />
      {mounts.length > 0 && (
        <span className="tone-danger text-xs text-tone-text">Mounted at {mounts.join(', ')}</span>
      )}
    </span>
  );
}

function Network({ private_ip: ip, management_mac: mac }: CandidateSlot) {
  return (
    <span className="flex flex-col">
      <Code>{ip}</Code>
      <span className="text-xs text-ink-faint">
        <Code>{mac}</Code>
      </span>
    </span>
  );
}
