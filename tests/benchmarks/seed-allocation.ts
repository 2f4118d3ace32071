import type { SeededPerson } from '@gpuaas/control-plane/domains/tenancy/seed-demo-people';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { newId } from '@gpuaas/control-plane/platform/ids';

/** An allocation to read; nothing runs behind it. */
export async function seedAllocation(
  db: Db,
  person: Pick<SeededPerson, 'email' | 'organizationId' | 'projectId'>,
): Promise<string> {
  const user = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', person.email)
    .executeTakeFirstOrThrow();
  const price = await db
    .selectFrom('sku_prices')
    .selectAll()
    .where('sku', '=', 'h200-sxm-slice')
    .executeTakeFirstOrThrow();
  const image = await db.selectFrom('images').selectAll().executeTakeFirstOrThrow();
  const id = newId();
  await db
    .insertInto('allocations')
    .values({
      id,
      name: 'bench',
      organization_id: person.organizationId!,
      project_id: person.projectId!,
      sku: price.sku,
      capacity_shape: 'gpu_slice',
      gpu_count: 1,
      image: image.image,
      image_digest: image.digest!,
      region: price.region,
      state: 'active',
      currency: price.currency,
      per_gpu_hour_micros: price.per_gpu_hour_micros,
      price_id: price.id,
      created_by: user.id,
      correlation_id: newId(),
      active_at: new Date(),
    })
    .execute();
  return id;
}
