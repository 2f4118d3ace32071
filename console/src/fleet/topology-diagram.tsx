import { useQuery } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import { slotsQuery } from '../api/fleet.ts';
import type { CandidateSlot, ResourceSlot } from '../api/types.ts';
import { TONE_CLASS } from '../ui/tone.ts';
import { rulesOf, type Rule } from './topology-rules.ts';

interface TopologyDiagramProps {
  nodeId: string;
  candidates: CandidateSlot[];
}

/**
 * The host as it was found beside what was approved of it: sockets, the PCIe roots under them, and on each the GPUs
 * with the disk and fabric function that are near.
 */
export function TopologyDiagram({ nodeId, candidates }: TopologyDiagramProps) {
  const approved = useQuery(slotsQuery(nodeId)).data ?? [];
  const sockets = [...Map.groupBy(candidates, ({ numa_node: numa }) => numa)].toSorted(([a], [b]) => a - b);
  return (
    <div className="grid gap-3 p-4 xl:grid-cols-2">
      {sockets.map(([numa, inSocket]) => (
        <section
          key={numa}
          aria-label={`NUMA node ${numa}`}
          className="flex flex-col gap-3 rounded-md border border-line bg-sunken p-3"
        >
          <h3 className="text-xs font-medium text-ink-faint">NUMA node {numa}</h3>
          {[...Map.groupBy(inSocket, ({ pcie_root: root }) => root)].map(([root, onRoot]) => (
            <div key={root} className="flex flex-col gap-2 border-l-2 border-line-strong pl-3">
              <p className="font-mono text-xs text-ink-faint">{root}</p>
              {onRoot.map((candidate) => (
                <Candidate
                  key={candidate.slot_index}
                  candidate={candidate}
                  rules={rulesOf(candidate, candidates)}
                  slot={approved.find(({ slot_index: index }) => index === candidate.slot_index)}
                />
              ))}
            </div>
          ))}
        </section>
      ))}
    </div>
  );
}

interface CandidateProps {
  candidate: CandidateSlot;
  rules: Rule[];
  slot: ResourceSlot | undefined;
}

function Candidate({ candidate, rules, slot }: CandidateProps) {
  const breaches = rules.filter(({ breach }) => breach !== null);
  return (
    <article
      aria-label={`Candidate ${candidate.slot_index}`}
      className="flex flex-col gap-1.5 rounded-md border border-line bg-surface p-2.5 text-xs"
    >
      <p className="flex justify-between gap-2">
        <span className="font-semibold">Slot {candidate.slot_index}</span>
        <span className={slot ? 'tone-success text-tone-text' : 'text-ink-faint'}>
          {slot ? 'Approved' : 'Candidate'}
        </span>
      </p>
      <dl className="grid grid-cols-[3.5rem_minmax(0,1fr)] gap-x-2 font-mono">
        <Device name="GPU" found={candidate.gpu_pci_address} approved={slot?.gpu_pci_address} />
        <Device
          name="Fabric"
          found={candidate.fabric_vf_pci_address}
          approved={slot?.fabric_vf_pci_address}
        />
        <Device name="NVMe" found={candidate.nvme_serial} approved={slot?.nvme_serial} />
      </dl>
      <ul aria-label="Rules" className="flex flex-wrap gap-x-3 gap-y-0.5">
        {rules.map(({ name, breach }) => {
          const Mark = breach ? X : Check;
          return (
            <li
              key={name}
              className={`${TONE_CLASS[breach ? 'danger' : 'success']} inline-flex items-center gap-1 text-tone-text`}
            >
              <Mark aria-label={breach ? 'Broken' : 'Kept'} className="size-3" />
              {name}
            </li>
          );
        })}
      </ul>
      {breaches.map(({ name, breach }) => (
        <p key={name} className="tone-danger text-tone-text">
          {breach}
        </p>
      ))}
    </article>
  );
}

/** A device as it was found; where another one was approved, that one too. */
function Device({
  name,
  found,
  approved,
}: {
  name: string;
  found: string | null;
  approved: string | undefined;
}) {
  const moved = approved !== undefined && approved !== found;
  return (
    <>
      <dt className="font-sans text-ink-faint">{name}</dt>
      <dd className="truncate" title={found ?? undefined}>
        {found ?? 'none'}
        {moved && <span className="tone-warn text-tone-text"> approved: {approved}</span>}
      </dd>
    </>
  );
}
