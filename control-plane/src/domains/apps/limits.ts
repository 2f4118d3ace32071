import { sql } from 'kysely';
import type { ResourceLimit } from '../../platform/http/resource-limits.ts';

export const appLimits: readonly ResourceLimit[] = [
  {
    policy: 'apps.max_live_instances_per_project',
    holder: ({ body }) => body['project_id'] ?? null,
    count: (id) => sql`select count(*)::int from app_instances where project_id = ${id} and ended_at is null`,
  },
  {
    policy: 'apps.max_share_links_per_instance',
    holder: ({ target }) => target?.targetId ?? null,
    count: (id) => sql`select count(*)::int from app_share_links where app_instance_id = ${id}
      and expires_at > now()`,
  },
];
