import type { RuntimeServices } from '../domains/apps/runtime/runtime-services.ts';
import { stopApps } from '../domains/apps/stop-apps.ts';
import { closeTerminals } from '../domains/access/tokens/close-terminals.ts';
import type { CleanupServices } from '../domains/allocations/cleanup/record-cleanup.ts';
import type { ReleaseServices } from '../domains/allocations/release/release-hooks.ts';
import { openUserData } from '../domains/allocations/user-data/open-user-data.ts';
import { leasesOnHosts } from '../domains/allocations/leases-on-hosts.ts';
import type { CatalogNeeds } from '../domains/catalog/needs.ts';
import { placementCandidates } from '../domains/fleet/index/placement-candidates.ts';
import type { WithFleetIndex } from '../domains/fleet/index/fleet-index.ts';
import type { FleetNeeds } from '../domains/fleet/needs.ts';
import { nodeOverviews, slotOverviews } from '../domains/read-models/find-overviews.ts';
import type { TaskSinks } from '../domains/tasks/kinds.ts';
import { recordStageProgress } from '../domains/timeline/record-stage-progress.ts';

/** Answers for domains from domains above them, which they must not import. */
export interface DomainAnswers extends CatalogNeeds, FleetNeeds, Pick<ReleaseServices, 'releaseHooks'> {
  taskSinks: TaskSinks;
}

export const domainAnswers: DomainAnswers = {
  taskSinks: {
    progress: { allocation_timeline: recordStageProgress },
    secrets: { allocation_user_data: openUserData },
  },
  leases: leasesOnHosts,
  overviews: { nodeOverviews, slotOverviews },
  placementCandidates,
  releaseHooks: [stopApps, closeTerminals],
};

/** Answers that roles pass to every domain. */
export type PlatformServices = CleanupServices &
  DomainAnswers &
  WithFleetIndex &
  Pick<RuntimeServices, 'guests'>;
