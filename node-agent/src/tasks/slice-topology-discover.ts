import type { TaskHandler } from './task-context.ts';

export const discoverSliceTopology: TaskHandler<'slice.topology_discover'> = async (
  _params,
  tools,
  context,
) => {
  const topology = await tools.host.discoverTopology(
    context.stage('discover', 'Reading PCI, NVMe and network devices'),
  );
  context.log.info(
    { candidates: topology.candidates.length, left_out: topology.left_out.length },
    'topology read',
  );
  return topology;
};
