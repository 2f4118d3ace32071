import type pg from 'pg';

const STATEMENTS = {
  api_key: {
    name: 'note-use-of-api_keys',
    text: `update api_keys set last_used_at = now()
      where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
  },
  service_account_token: {
    name: 'note-use-of-service_account_tokens',
    text: `update service_account_tokens set last_used_at = now()
      where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
  },
};

/** Records the use of a credential; concurrent requests write once. */
export async function recordUse(pool: pg.Pool, kind: keyof typeof STATEMENTS, id: string): Promise<void> {
  await pool.query({ ...STATEMENTS[kind], values: [id] });
}
