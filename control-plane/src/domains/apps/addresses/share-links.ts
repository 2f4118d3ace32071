import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import { hashSecret, newSecret } from '../../../platform/auth/secrets.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { newId, tenantResourceName } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { findAddressed } from './describe-address.ts';
import { requireOwner } from './set-sharing.ts';

type ShareLink = components['schemas']['AppShareLink'];

const COLUMNS = [
  'id',
  'organization_id',
  'app_instance_id',
  'note',
  'created_by',
  'created_at',
  'expires_at',
] as const;

/** A link that opens the app without a sign-in. The secret is returned once; its hash is stored. */
export async function createShareLink(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  caller: Caller,
  instanceId: string,
  { expires_in_seconds: seconds, note = '' }: components['schemas']['CreateAppShareLink'],
): Promise<{ link: ShareLink; label: string; organizationId: string; secret: string }> {
  const address = await findAddressed(tx, caller, 'app_instance.share', instanceId);
  requireOwner(caller, address);
  const { organization_id: organizationId, label } = address;
  const maximum = policies.get('apps.share_link_max_seconds', { organizationId });
  if (seconds > maximum)
    throw new Problem('app_sharing_not_allowed', `A link lives for at most ${maximum} s here.`);
  const secret = newSecret('share_link');
  const now = clock.now();
  const row = await tx
    .insertInto('app_share_links')
    .values({
      id: newId(),
      organization_id: organizationId,
      app_instance_id: instanceId,
      secret_hash: hashSecret(secret),
      note,
      created_by: caller.id,
      created_at: now,
      expires_at: new Date(now.getTime() + seconds * 1000),
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  return { link: describe(row), label, organizationId, secret };
}

export async function listShareLinks(
  tx: Tx,
  instanceId: string,
  { limit, page: after }: { limit: number; page?: string },
): Promise<Page<ShareLink>> {
  const rows = await tx
    .selectFrom('app_share_links')
    .select(COLUMNS)
    .where('app_instance_id', '=', instanceId)
    .where('expires_at', '>', sql<Date>`now()`)
    .$call(fromCursor(decodePage(after, ['uuid']), (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const page = toPage(rows, limit, (row) => [row.id]);
  return { items: page.rows.map(describe), next_page: page.next_page };
}

/** Everybody who may share the app in its project may also end a link. The gateway finds it missing within seconds. */
export async function revokeShareLink(
  tx: Tx,
  caller: Caller,
  instanceId: string,
  linkId: string,
): Promise<{ organizationId: string }> {
  const { organization_id: organizationId } = await findAddressed(
    tx,
    caller,
    'app_instance.share',
    instanceId,
  );
  const revoked = await tx
    .deleteFrom('app_share_links')
    .where('id', '=', linkId)
    .where('app_instance_id', '=', instanceId)
    .returning('id')
    .executeTakeFirst();
  if (!revoked) throw notFound();
  return { organizationId };
}

function describe(row: {
  id: string;
  organization_id: string;
  app_instance_id: string;
  note: string;
  created_by: string;
  created_at: Date;
  expires_at: Date;
}): ShareLink {
  return {
    id: row.id,
    resource_name: tenantResourceName(row.organization_id, 'app_share_link', row.id),
    app_instance_id: row.app_instance_id,
    note: row.note,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}
