import type { DoorSubject } from '../door.ts';

/** Who may open an app, from the fewest to all. Share links open it at every level. */
export const SHARING_LEVELS = ['owner', 'project', 'organization', 'public'] as const;
export type Sharing = (typeof SHARING_LEVELS)[number];

export function isSharing(text: string): text is Sharing {
  return SHARING_LEVELS.some((level) => level === text);
}

/** An app instance as the gateway needs it. */
export interface App extends DoorSubject {
  instanceId: string;
  /** First label of its host name, and its name in the path door. Never given to another app. */
  label: string;
  /** Name of the manifest; prices refer to it. */
  name: string;
  /** User or service account that started it. */
  ownerId: string;
  sharing: Sharing;
  /** Ids of share links that have neither expired nor been revoked. */
  links: ReadonlySet<string>;
  allocationId: string;
  nodeId: string;
  /** Port that a member declared; the gateway dials no other. */
  port: number;
  phase: 'starting' | 'running' | 'ended';
  /** Origins whose pages may call the app with an API key. */
  corsOrigins: readonly string[];
}
