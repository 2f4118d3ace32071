import type { AppInstanceEvent } from '../api/types.ts';

/** The proof that nothing of a member is left on its machine. */
export type Evidence =
  | { proof: 'never_started' }
  | { proof: 'observed'; processes: number; ports: number; files: boolean; forced: boolean; at: string }
  | { proof: 'wiped'; certificates: number };

/** What an event proves; null if it is no proof, or one that this console does not know. */
export function evidenceOf({ event_type: type, payload }: AppInstanceEvent): Evidence | null {
  if (type !== 'teardown_proved') return null;
  const { proof, processes, ports, files, forced, observed_at: at, certificate_ids: certificates } = payload;
  if (proof === 'never_started') return { proof };
  if (proof === 'wiped')
    return { proof, certificates: Array.isArray(certificates) ? certificates.length : 0 };
  const isWhole =
    proof === 'observed' &&
    typeof processes === 'number' &&
    Array.isArray(ports) &&
    typeof files === 'boolean' &&
    typeof forced === 'boolean' &&
    typeof at === 'string';
  return isWhole ? { proof, processes, ports: ports.length, files, forced, at } : null;
}
