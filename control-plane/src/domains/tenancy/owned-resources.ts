import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';

export type OwnedResource = components['schemas']['OwnedResource'];

/** Owner of live resources: a tenant, one project, or one person in a tenant. */
export interface OwnerScope {
  organizationId: string;
  projectId?: string;
  userId?: string;
}

/**
 * A domain whose resources belong to projects. Tenancy knows them only through this interface; a role
 * connects them.
 */
export interface ResourceOwner {
  /** At most `limit` resources that are in use or cost money. */
  live(tx: Tx, by: OwnerScope, limit: number): Promise<OwnedResource[]>;
  /** Hands a person's live resources to their projects and returns them. */
  handOver(tx: Tx, organizationId: string, userId: string): Promise<OwnedResource[]>;
}

/** Closing hook of a domain, run when a tenant or project is closed. Live resources are gone by then. */
export type ClosingHook = (tx: Tx, closed: { organizationId: string; projectId?: string }) => Promise<void>;

export async function liveResources(
  tx: Tx,
  owners: readonly ResourceOwner[],
  by: OwnerScope,
  limit: number,
): Promise<OwnedResource[]> {
  const found: OwnedResource[] = [];
  for (const owner of owners) {
    if (found.length < limit) found.push(...(await owner.live(tx, by, limit - found.length)));
  }
  return found;
}

type OwnerColumn = 'organization_id' | 'project_id' | 'owner_user_id';

/** As much of a query as is needed to narrow it to an owner. */
interface OwnedQuery<Row> {
  where(column: OwnerColumn, operator: '=', value: string): OwnedQuery<Row>;
  execute(): Promise<Row[]>;
}

interface OwnedSelection<Row> extends OwnedQuery<Row> {
  where(column: OwnerColumn, operator: '=', value: string): OwnedSelection<Row>;
  orderBy(column: 'id'): OwnedSelection<Row>;
  limit(rows: number): OwnedSelection<Row>;
}

/** The owner of a table whose rows have an organization, a project and perhaps a person. */
export function ownedRows<Row>(table: {
  /** The live rows. */
  live(tx: Tx): OwnedSelection<Row>;
  /** Takes the person from live rows and returns them. */
  handOver(tx: Tx): OwnedQuery<Row>;
  describe(row: Row): OwnedResource;
}): ResourceOwner {
  return {
    async live(tx, { organizationId, projectId, userId }, limit) {
      let query = table.live(tx).where('organization_id', '=', organizationId);
      if (projectId !== undefined) query = query.where('project_id', '=', projectId);
      if (userId !== undefined) query = query.where('owner_user_id', '=', userId);
      return (await query.orderBy('id').limit(limit).execute()).map(table.describe);
    },
    async handOver(tx, organizationId, userId) {
      const query = table.handOver(tx).where('organization_id', '=', organizationId);
      return (await query.where('owner_user_id', '=', userId).execute()).map(table.describe);
    },
  };
}
