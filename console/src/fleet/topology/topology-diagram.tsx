import { useQuery } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import { slotsQuery } from '../../api/fleet/fleet.ts';
import type { ApprovalRule, CandidateSlot, ResourceSlot, TopologyDiscovery } from '../../api/types.ts';
import { pluralize } from '../../format/humanize.ts';
import { TONE_CLASS } from '../../ui/values/tone.ts';

interface TopologyDiagramProps {
  nodeId: string;
  discovery: TopologyDiscovery;
}

/**
 * The discovered host beside its approved slots: sockets, their PCIe roots, and on each the GPUs with the
 * nearest disk and fabric function.
 */
export function TopologyDiagram({ nodeId, discovery }: TopologyDiagramProps) {
  const { candidates, approval } = discovery;
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
                  rules={
                    approval.find(({ slot_index: index }) => index === candidate.slot_index)?.rules ?? []
                  }
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
  rules: ApprovalRule[];
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
      <details open={breaches.length > 0}>
        <summary
          className={`${TONE_CLASS[breaches.length > 0 ? 'danger' : 'success']} cursor-pointer text-tone-text`}
        >
          {breaches.length > 0
            ? `${breaches.length} of ${pluralize(rules.length, 'rule')} failed`
            : `All ${pluralize(rules.length, 'rule')} passed`}
        </summary>
        <ul aria-label="Rules" className="mt-1 flex flex-col gap-0.5">
          {[...breaches, ...rules.filter(({ breach }) => breach === null)].map(({ code, name, breach }) => {
            const Mark = breach ? X : Check;
            return (
              <li
                key={code}
                className={`${TONE_CLASS[breach ? 'danger' : 'success']} flex items-start gap-1 text-tone-text`}
              >
                <Mark aria-label={breach ? 'Failed' : 'Passed'} className="mt-0.5 size-3 shrink-0" />
                {breach ?? name}
              </li>
            );
          })}
        </ul>
      </details>
    </article>
  );
}

/** A discovered device, and the approved one if it differs. */
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
