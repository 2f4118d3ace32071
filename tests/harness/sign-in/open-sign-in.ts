import { createSignIn } from '@gpuaas/control-plane/platform/auth/sign-ins';
import type { TestApi } from '../api.ts';

/** A browser sign-in of one of the people, as it stands in a cookie. */
export async function openSignIn(
  api: Pick<TestApi, 'services'>,
  email: string,
): Promise<{ secret: string; cookie: string }> {
  const { services } = api;
  const user = await services.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  const { secret } = await services.db
    .transaction()
    .execute((tx) => createSignIn(tx, services, { userId: user.id, userAgent: 'test', ip: '127.0.0.1' }));
  return { secret, cookie: `gpuaas_sign_in=${secret}` };
}
