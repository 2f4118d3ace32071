import { Link } from '@tanstack/react-router';
import type { BlockedSlot, WipeCertificate } from '../api/types.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Code, Fact, Facts } from '../ui/values/facts.tsx';
import { Panel } from '../ui/panel.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { BlockedSlotActions } from './blocked-slot-actions.tsx';

/** One quarantined slot: the state of its disk, and the possible actions. */
export function BlockedSlotPanel({ blocked }: { blocked: BlockedSlot }) {
  const { slot, hostname, allocation, running, certificates } = blocked;
  return (
    <Panel title={`${hostname}, slot ${slot.slot_index}`} aside={<BlockedSlotActions blocked={blocked} />}>
      <div className="grid gap-5 lg:grid-cols-2">
        <Facts>
          <Fact name="Cleanup">
            {running ? (
              <Badge tone="warn" moving>
                Retrying
              </Badge>
            ) : (
              <Badge tone="danger">Blocked</Badge>
            )}
          </Fact>
          <Fact name="Disk" copy={slot.nvme_serial}>
            <Code>{slot.nvme_serial}</Code>
          </Fact>
          <Fact name="Health">{slot.health_detail || slot.health_state}</Fact>
          {allocation && (
            <Fact name="Last lease" copy={allocation.id}>
              <Code>{allocation.id}</Code> ({humanize(allocation.execution_state).toLowerCase()})
            </Fact>
          )}
          <Fact name="Host">
            <Link
              to="/operator/nodes/$nodeId"
              params={{ nodeId: slot.node_id }}
              search={{ slot: slot.slot_index }}
              className="text-accent-text underline"
            >
              {hostname}
            </Link>
          </Fact>
        </Facts>
        <div className="flex flex-col gap-2 text-sm">
          <h3 className="font-medium">Evidence</h3>
          {certificates.length === 0 ? (
            <p className="text-ink-muted">No wipe reported for this disk.</p>
          ) : (
            <ul className="flex flex-col gap-2">
              {certificates.map((certificate) => (
                <Evidence key={certificate.id} certificate={certificate} />
              ))}
            </ul>
          )}
        </div>
      </div>
    </Panel>
  );
}

function Evidence({ certificate }: { certificate: WipeCertificate }) {
  return (
    <li className="flex flex-col gap-0.5">
      <span className="flex flex-wrap items-center gap-2">
        <Badge tone={certificate.verified ? 'success' : 'danger'}>
          {certificate.verified ? 'Verified' : 'Not verified'}
        </Badge>
        <Code>{certificate.method}</Code>
        <span className="text-ink-faint">
          <Timestamp at={certificate.finished_at} />
        </span>
      </span>
      <span className="wrap-anywhere text-ink-muted">{certificate.verification}</span>
    </li>
  );
}
