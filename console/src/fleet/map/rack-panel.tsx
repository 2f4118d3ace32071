import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { Node } from '../../api/types.ts';
import { TONE_CLASS } from '../../ui/values/tone.ts';
import { POSTURES } from '../postures.ts';
import { SLOT_STATE_ORDER, SLOT_STATES } from '../slots/slot-states.ts';
import { ZOOM_LEVELS, type Zoom } from './zooms.ts';

/** One rack. Hosts off the screen are not laid out, which keeps hundreds of hosts fast. */
export function RackPanel({ rack, nodes, zoom }: { rack: string; nodes: Node[]; zoom: Zoom }) {
  return (
    <section
      aria-label={`Rack ${rack}`}
      className="rounded-lg border border-line bg-surface [contain-intrinsic-size:auto_12rem] [content-visibility:auto]"
    >
      <h3 className="flex justify-between border-b border-line px-3 py-1.5 text-xs font-medium text-ink-muted">
        {rack}
        <span className="text-ink-faint tabular-nums">{nodes.length}</span>
      </h3>
      <ul className="flex flex-col gap-px p-1.5">
        {nodes.map((node) => (
          <NodeRow key={node.id} node={node} zoom={zoom} />
        ))}
      </ul>
    </section>
  );
}

/** Unchanged data keeps its objects, so only hosts that changed are drawn again. */
const NodeRow = memo(function NodeRow({ node, zoom }: { node: Node; zoom: Zoom }) {
  const { label, tone } = POSTURES[node.posture];
  const states = SLOT_STATE_ORDER.flatMap((state) =>
    Array.from({ length: node.slot_counts[state] }, (_, index) => ({ state, key: `${state}-${index}` })),
  );
  const reachable = node.connection === 'connected';
  const words = SLOT_STATE_ORDER.filter((state) => node.slot_counts[state] > 0)
    .map((state) => `${node.slot_counts[state]} ${SLOT_STATES[state].label.toLowerCase()}`)
    .join(', ');
  return (
    <li>
      <Link
        to="/operator/nodes/$nodeId"
        params={{ nodeId: node.id }}
        preload={false}
        title={`${label}: ${node.posture_reason}`}
        aria-label={`${node.hostname}, ${label.toLowerCase()}, ${words || 'no slots'}${reachable ? '' : ', not connected'}`}
        className="flex items-center gap-2 rounded px-1.5 py-1 hover:bg-hover"
      >
        <span
          className={`${TONE_CLASS[reachable ? tone : 'danger']} size-2 shrink-0 rounded-full ${reachable ? 'bg-tone' : 'border border-tone'}`}
        />
        <span className={`min-w-0 flex-1 truncate ${ZOOM_LEVELS[zoom].name}`}>{node.hostname}</span>
        <span className={`grid shrink-0 grid-cols-8 ${ZOOM_LEVELS[zoom].gap}`}>
          {states.map(({ state, key }) => (
            <span
              key={key}
              className={`${TONE_CLASS[SLOT_STATES[state].tone]} ${SLOT_STATES[state].fill} ${ZOOM_LEVELS[zoom].slot} border`}
            />
          ))}
        </span>
      </Link>
    </li>
  );
});
