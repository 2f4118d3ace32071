import { policy } from '../../platform/policy/policy.ts';

/** A host that has been silent for longer than this is shown and treated as unreachable. */
export const UNREACHABLE_AFTER_MS = policy('fleet.unreachable_after_seconds') * 1000;

export function isConnected(lastHeartbeatAt: Date | null, now: Date): boolean {
  return lastHeartbeatAt !== null && now.getTime() - lastHeartbeatAt.getTime() < UNREACHABLE_AFTER_MS;
}
