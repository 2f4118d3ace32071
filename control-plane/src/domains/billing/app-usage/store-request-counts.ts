import type { Db } from '../../../platform/db/database.ts';

/** Answered requests of one user to one app instance, as a gateway counted them in about a second. */
export interface RequestCount {
  /** Chosen by the gateway, so that a count sent twice is stored once. */
  id: string;
  appInstanceId: string;
  organizationId: string;
  projectId: string;
  allocationId: string;
  userId: string | null;
  app: string;
  requests: number;
  countedAt: Date;
}

/** Stores counts that become usage records soon. `db` is the gateway's. */
export async function storeRequestCounts(db: Db, counts: readonly RequestCount[]): Promise<void> {
  await db
    .insertInto('app_request_counts')
    .values(
      counts.map((count) => ({
        id: count.id,
        app_instance_id: count.appInstanceId,
        organization_id: count.organizationId,
        project_id: count.projectId,
        allocation_id: count.allocationId,
        user_id: count.userId,
        app: count.app,
        requests: BigInt(count.requests),
        counted_at: count.countedAt,
      })),
    )
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}
