import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import { requireOrganization } from '../../tenancy/organizations/require-organization.ts';
import { describePrice } from './list-prices.ts';
import { requireConfirmedChange } from './require-confirmed-change.ts';

type CreatePrice = components['schemas']['CreatePrice'];

/** Adds a price that applies from now or later; past charges do not change. */
export async function createPrice(
  policies: Pick<Policies, 'get'>,
  tx: Tx,
  { now, callerId, body }: { now: Date; callerId: string; body: CreatePrice },
): Promise<components['schemas']['Price']> {
  const from = body.effective_from === undefined ? now : new Date(body.effective_from);
  const until = body.effective_until === undefined ? null : new Date(body.effective_until);
  if (from < now) {
    throw new Problem('price_in_past', 'A price takes effect now or later.', {
      errors: [{ pointer: '/effective_from', detail: 'is in the past' }],
    });
  }
  refuseBadEnd(body, from, until);
  await requireKnown(tx, body);
  await requireConfirmedChange(policies, tx, body, from);
  const row = await tx
    .insertInto('sku_prices')
    .values({
      id: newId(),
      sku: body.sku,
      region: body.region,
      organization_id: body.organization_id ?? null,
      currency: body.per_gpu_hour.currency,
      per_gpu_hour_micros: BigInt(body.per_gpu_hour.micros),
      effective_from: from,
      effective_until: until,
      reason: body.reason ?? '',
      created_by: callerId,
    })
    .onConflict((c) => c.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) {
    throw new Problem(
      'price_exists',
      `There is a price from ${from.toISOString()} already; withdraw it first.`,
    );
  }
  return describePrice(row);
}

function refuseBadEnd(body: CreatePrice, from: Date, until: Date | null): void {
  if (until === null) return;
  const fault =
    body.organization_id === undefined
      ? 'is for prices of a tenant; a list price holds until the next one'
      : until <= from && 'is not after effective_from';
  if (!fault) return;
  throw new Problem('invalid_request', `effective_until ${fault}.`, {
    errors: [{ pointer: '/effective_until', detail: fault }],
  });
}

async function requireKnown(tx: Tx, body: CreatePrice): Promise<void> {
  const sku = await tx.selectFrom('sku_catalog').select('sku').where('sku', '=', body.sku).executeTakeFirst();
  if (!sku) throw new Problem('sku_unknown', `There is no product ${body.sku}.`);
  const region = await tx
    .selectFrom('regions')
    .select('region')
    .where('region', '=', body.region)
    .executeTakeFirst();
  if (!region) throw new Problem('region_unavailable', `The region ${body.region} does not exist.`);
  if (body.organization_id !== undefined) await requireOrganization(tx, body.organization_id);
}
