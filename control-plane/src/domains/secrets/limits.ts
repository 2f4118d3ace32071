import { sql } from 'kysely';
import type { ResourceLimit } from '../../platform/http/resource-limits.ts';

export const secretLimits: readonly ResourceLimit[] = [
  {
    policy: 'secrets.max_per_project',
    holder: ({ body }) => body['project_id'] ?? null,
    count: (id) => sql`select count(*)::int from project_secrets where project_id = ${id}`,
  },
];
