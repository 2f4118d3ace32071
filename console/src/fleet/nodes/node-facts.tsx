import type { Node } from '../../api/types.ts';
import { Fact, Facts, TruncatedName } from '../../ui/values/facts.tsx';
import { Panel } from '../../ui/panel.tsx';
import { RelativeTime, Timestamp } from '../../ui/values/timestamp.tsx';
import { ConnectionLabel } from './connection-label.tsx';

const MODES = { slice: 'GPU slices', baremetal: 'Bare metal', none: 'None: convert the host first' };

export function NodeFacts({ node }: { node: Node }) {
  return (
    <Panel title="Host">
      <Facts>
        <Fact name="Connection">
          <ConnectionLabel connection={node.connection} />
        </Fact>
        <Fact name="Heartbeat">
          {node.last_heartbeat_at ? <RelativeTime since={node.last_heartbeat_at} /> : 'Never'}
        </Fact>
        {node.clock_offset_ms !== null && <Fact name="Clock">{clockInWords(node.clock_offset_ms)}</Fact>}
        <Fact name="Agent">{node.agent_version ?? 'Unknown'}</Fact>
        <Fact name="Mode">{MODES[node.mode ?? 'none']}</Fact>
        <Fact name="Family">{node.node_family}</Fact>
        <Fact name="Region">{node.region}</Fact>
        <Fact name="Pool">{node.pool}</Fact>
        <Fact name="Rack">{node.rack}</Fact>
        {node.profile_tags.length > 0 && <Fact name="Profiles">{node.profile_tags.join(', ')}</Fact>}
        <Fact name="Enrolled">
          <Timestamp at={node.enrolled_at} />
        </Fact>
        {node.boot_id && (
          <Fact name="Boot id" copy={node.boot_id}>
            <TruncatedName>{node.boot_id}</TruncatedName>
          </Fact>
        )}
        <Fact name="Id" copy={node.id}>
          <TruncatedName>{node.id}</TruncatedName>
        </Fact>
      </Facts>
    </Panel>
  );
}

/** A smaller offset cannot be distinguished from network latency. */
const IN_STEP_MS = 1000;

function clockInWords(offsetMs: number): string {
  const seconds = Math.round(Math.abs(offsetMs) / 1000);
  if (Math.abs(offsetMs) < IN_STEP_MS) return 'In sync';
  return `${seconds.toLocaleString()} s ${offsetMs > 0 ? 'ahead' : 'behind'}`;
}
