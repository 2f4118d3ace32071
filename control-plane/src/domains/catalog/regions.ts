import type { Selectable } from 'kysely';
import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Regions } from '../../platform/db/generated/schema.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';

type Region = components['schemas']['Region'];
type RegionChange = operations['updateRegion']['requestBody']['content']['application/json'];

/** Open regions first, then announced ones. */
export async function listRegions(tx: Tx): Promise<Region[]> {
  const rows = await tx
    .selectFrom('regions')
    .selectAll()
    .orderBy('status', 'desc')
    .orderBy('region')
    .execute();
  return rows.map(describeRegion);
}

export async function getRegion(tx: Tx, region: string, options: { lock?: boolean } = {}): Promise<Region> {
  const row = await tx
    .selectFrom('regions')
    .selectAll()
    .where('region', '=', region)
    .$if(options.lock ?? false, (q) => q.forUpdate())
    .executeTakeFirst();
  if (!row) throw notFound();
  return describeRegion(row);
}

export async function createRegion(tx: Tx, body: { region: string; display_name: string }): Promise<Region> {
  const row = await tx
    .insertInto('regions')
    .values({ ...body, status: 'coming' })
    .onConflict((c) => c.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new Problem('name_taken', `There is a region ${body.region}.`);
  return describeRegion(row);
}

export async function updateRegion(tx: Tx, region: string, change: RegionChange): Promise<Region> {
  const row = await tx
    .updateTable('regions')
    .set(change)
    .where('region', '=', region)
    .returningAll()
    .executeTakeFirstOrThrow();
  return describeRegion(row);
}

function describeRegion(row: Selectable<Regions>): Region {
  return { ...row, status: row.status };
}
