import type { DoorSubject } from '../door.ts';

/** People who may open an app. `project` means everybody with the permission in the app's project. */
export type Sharing = 'owner' | 'project';

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
  allocationId: string;
  nodeId: string;
  /** Port that a member declared; the gateway dials no other. */
  port: number;
  phase: 'starting' | 'running' | 'ended';
  /** Origins whose pages may call the app with an API key. */
  corsOrigins: readonly string[];
}
