import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { nodesQuery } from '../../api/fleet/fleet.ts';
import { shortId } from '../../format/humanize.ts';

/** A host by its name; by the end of its id until the name is known. */
export function HostLink({ nodeId }: { nodeId: string }) {
  const { data: nodes = [] } = useInfiniteQuery(nodesQuery);
  return (
    <Link
      to="/operator/nodes/$nodeId"
      params={{ nodeId }}
      className="relative z-10 text-accent-text underline"
      title={nodeId}
    >
      {nodes.find(({ id }) => id === nodeId)?.hostname ?? shortId(nodeId)}
    </Link>
  );
}
