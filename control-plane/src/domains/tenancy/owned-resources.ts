import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';

export type OwnedResource = components['schemas']['OwnedResource'];

/** Whose live resources: a tenant's, one project's, or those that one person has in a tenant. */
export interface OwnedBy {
  organizationId: string;
  projectId?: string;
  userId?: string;
}

/** A domain whose resources belong to projects. Tenancy knows them by this alone; a role wires them together. */
export interface ResourceOwner {
  /** At most `limit` of those that are in use or cost money. */
  live(tx: Tx, by: OwnedBy, limit: number): Promise<OwnedResource[]>;
  /** Makes the live resources of a person the project's own, and says which. */
  handOver(tx: Tx, organizationId: string, userId: string): Promise<OwnedResource[]>;
}

/** What else a domain ends with a tenant or project that is closed. Live resources are gone by then. */
export type AtClosing = (tx: Tx, closed: { organizationId: string; projectId?: string }) => Promise<void>;

export async function liveResources(
  tx: Tx,
  owners: readonly ResourceOwner[],
  by: OwnedBy,
  limit: number,
): Promise<OwnedResource[]> {
  const found: OwnedResource[] = [];
  for (const owner of owners) {
    if (found.length < limit) found.push(...(await owner.live(tx, by, limit - found.length)));
  }
  return found;
}
