import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Money } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { requireBudgetHeadroom } from '../../billing/budgets/require-budgets.ts';
import { accountKey, readCommitmentsOfTenants } from '../../billing/funds/commitments.ts';
import { refuseUnfunded } from '../../billing/funds/require-funds.ts';
import { readFunds } from '../../billing/funds/tenant-funds.ts';
import type { Product } from '../../catalog/quote.ts';
import type { ProjectRow } from '../../tenancy/projects/find-project.ts';

type Funds = NonNullable<components['schemas']['PlacementExplanation']['funds']>;

interface Asked {
  caller: Caller;
  project: ProjectRow;
  offer: Product;
  perHour: Money;
}

/** The money decision of a launch, by the same rules and without its locks. */
export async function explainFunds(
  { clock, policies }: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  { caller, project, offer, perHour }: Asked,
): Promise<Funds> {
  const organizationId = project.organization_id;
  const launch = { organizationId, projectId: project.id, sku: offer.sku, perHour };
  try {
    const { currency } = perHour;
    await requireBudgetHeadroom({ clock }, tx, { ...launch, ownerUserId: caller.ownerUserId, currency });
    const committed = await readCommitmentsOfTenants(tx, [organizationId], clock.now());
    const funds = await readFunds(tx, clock.now(), organizationId);
    refuseUnfunded(policies, launch, funds, committed.get(accountKey(organizationId, currency)));
    return { allows: true, code: null, detail: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { allows: false, code: error.code, detail: error.message };
  }
}
