import type { TaskHandler } from './task-context.ts';
import { TaskError } from './task-error.ts';

/**
 * Takes a host back from its tenant. The lock is released last, and only when no trace of the tenant is
 * found.
 */
export const deprovisionUser: TaskHandler<'allocation.deprovision_user'> = async (params, tools, context) => {
  const { host, hostLease, streams } = tools;
  const started_at = new Date().toISOString();
  const stopping = context.stage('stop', 'Cutting connections and ending what the tenant runs');
  // A stale release must not touch another tenant's host, so ownership is checked before anything
  // destructive.
  await hostLease.take(params.allocation_id);
  streams.revoke(params.allocation_id);
  stopping.percent(100);
  await host.removeUser(
    params,
    params.stop_timeout_seconds,
    context.stage('user', 'Removing the login and its files'),
  );

  const leftovers = await host.findLeftovers(params, context.stage('verify', 'Searching for leftovers'));
  const verified = leftovers.length === 0;
  const verification = verified
    ? 'no login, process, session or file of the tenant was found'
    : `left: ${leftovers.join(', ')}`.slice(0, 500);
  const proof = {
    user_absent: verified,
    leftovers: leftovers.slice(0, 50).map((entry) => entry.slice(0, 200)),
    verified,
    verification,
    started_at,
    finished_at: new Date().toISOString(),
  };
  if (!verified) throw new TaskError('cleanup_not_verified', verification, proof);
  await hostLease.drop(params.allocation_id);
  return proof;
};
