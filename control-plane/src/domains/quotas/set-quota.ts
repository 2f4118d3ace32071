import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import { quotaRows, type QuotaRow } from './list-quotas.ts';

type SetQuota = components['schemas']['SetQuota'];

/**
 * Sets the limit of the tenant or of the platform, or removes it if the body has none. Applies to the next
 * launch.
 */
export async function setQuota(
  tx: Tx,
  { organizationId, setBy, now }: { organizationId: string; setBy: 'platform' | 'tenant'; now: Date },
  body: SetQuota,
): Promise<{ before: QuotaRow; after: QuotaRow }> {
  const before = await findQuota(tx, organizationId, body);
  const key = {
    organization_id: organizationId,
    holder_type: before.holderType,
    holder_id: before.holderId,
    measure: before.measure,
    unit: before.unit,
    set_by: setBy,
  };
  if (body.limit === undefined) {
    await tx
      .deleteFrom('quota_limits')
      .where((e) => e.and(key))
      .execute();
  } else {
    const values = { amount: BigInt(body.limit), changed_at: now };
    await tx
      .insertInto('quota_limits')
      .values({ ...key, ...values })
      .onConflict((c) =>
        c
          .columns(['organization_id', 'holder_type', 'holder_id', 'measure', 'unit', 'set_by'])
          .doUpdateSet(values),
      )
      .execute();
  }
  return { before, after: await findQuota(tx, organizationId, body) };
}

async function findQuota(tx: Tx, organizationId: string, body: SetQuota): Promise<QuotaRow> {
  const { holder, measure, unit = '' } = body;
  const rows = await quotaRows(tx, organizationId, { holderId: holder.id, measure, unit, limit: 1 });
  const row = rows.find(({ holderType }) => holderType === holder.type);
  if (row) return row;
  const detail = 'names no project or user of the tenant, or no sold product';
  throw new Problem('quota_unknown', `The quota ${detail}.`, { errors: [{ pointer: '/holder', detail }] });
}
