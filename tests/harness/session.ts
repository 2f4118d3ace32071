import { createSession } from '@gpuaas/control-plane/platform/auth/sessions';
import type { TestApi } from './api.ts';

/** A browser session of one of the people, as it stands in a cookie. */
export async function openSession(api: TestApi, email: string): Promise<{ secret: string; cookie: string }> {
  const { services } = api;
  const user = await services.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  const { secret } = await services.db
    .transaction()
    .execute((tx) => createSession(tx, services, { userId: user.id, userAgent: 'test', ip: '127.0.0.1' }));
  return { secret, cookie: `gpuaas_session=${secret}` };
}
