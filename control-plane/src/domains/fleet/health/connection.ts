import type { Services } from '../../../platform/services.ts';
import type { Connection } from './derive-node-states.ts';

/** Services needed to decide whether a host is reachable now. */
export type Observer = Pick<Services, 'clock' | 'policies'>;

/** A host that has been silent for too long is shown and treated as unreachable. */
export function isConnected({ clock, policies }: Observer, lastHeartbeatAt: Date | null): boolean {
  if (lastHeartbeatAt === null) return false;
  const silentSeconds = (clock.now().getTime() - lastHeartbeatAt.getTime()) / 1000;
  return silentSeconds < policies.get('fleet.unreachable_after_seconds');
}

export function connectionOf(observer: Observer, lastHeartbeatAt: Date | null): Connection {
  if (lastHeartbeatAt === null) return 'never_seen';
  return isConnected(observer, lastHeartbeatAt) ? 'connected' : 'unreachable';
}
