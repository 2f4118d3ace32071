import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import type { Candidate } from '../placement/candidate.ts';

/** What the catalogue asks of the fleet; a role passes the answer. */
export interface CatalogNeeds {
  /** Every host as placement sees it now. */
  placementCandidates(policies: Services['policies'], tx: Tx): Promise<readonly Candidate[]>;
}

export type CatalogServices = Services & CatalogNeeds;
