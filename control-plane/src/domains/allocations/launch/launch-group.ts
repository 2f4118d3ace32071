import { present } from '../../../platform/present.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import { newOrder, type LaunchRequest, type LaunchServices } from './launch.ts';
import { lockLaunchFacts, prepareLaunch } from './prepare-launch.ts';
import { reserveAll } from './reserve-batch.ts';

/**
 * Launches a group, such as the nodes of a cluster, in the caller's transaction: every member is reserved, or the group
 * is refused and holds nothing. Quotas and funds count the sum. A group does not enter the queue.
 */
export async function launchGroup(
  services: LaunchServices,
  tx: Tx,
  caller: Caller,
  requests: readonly LaunchRequest['request'][],
  correlationId: string,
): Promise<AllocationRow[]> {
  if (requests.length === 0) return [];
  const launches = requests.map((request) => ({ caller, request, correlationId }));
  const facts = await lockLaunchFacts(services, tx, launches);
  const orders = launches.map((launch, index) => {
    try {
      return newOrder(prepareLaunch(services, launch, present(facts[index], 'facts of the launch')));
    } catch (error) {
      throw error instanceof Problem ? memberProblem(error, index, launches.length) : error;
    }
  });
  const result = await withRole(tx, 'gpuaas_placement', () => reserveAll(services, tx, orders));
  if (result.kind === 'refused') throw memberProblem(result.problem, result.index, launches.length);
  return result.allocations;
}

/** The problem of one member as that of the group; `group_index` counts from zero. */
function memberProblem({ code, message, options }: Problem, index: number, size: number): Problem {
  return new Problem(code, `Launch ${index + 1} of ${size} in the group: ${message}`, {
    ...options,
    extensions: { ...options.extensions, group_index: index },
  });
}
