import type { Node } from '../../api/types.ts';
import { Panel } from '../../ui/panel.tsx';
import { StateList } from '../../ui/values/state-list.tsx';
import { nodeStates } from '../fleet-states.ts';

export function NodeStatesPanel({ node }: { node: Node }) {
  return (
    <Panel title="States">
      <StateList states={nodeStates(node.states)} />
    </Panel>
  );
}
