import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { GpuaasClient } from './client.ts';
import { unwrap } from './problem.ts';

export type Me = components['schemas']['Me'];

/** The caller with all their organizations and projects, of all pages. An organization may go on on the next page. */
export async function readMe(client: GpuaasClient, options: { signal?: AbortSignal } = {}): Promise<Me> {
  const me = await unwrap(client.GET('/api/v1/me', options));
  const organizations = new Map(me.organizations.map((one) => [one.id, one]));
  for (let page = me.next_page; page !== null;) {
    const next = await unwrap(client.GET('/api/v1/me', { ...options, params: { query: { page } } }));
    for (const one of next.organizations) {
      const known = organizations.get(one.id);
      if (known) known.projects.push(...one.projects);
      else organizations.set(one.id, one);
    }
    page = next.next_page;
  }
  return { ...me, organizations: [...organizations.values()], next_page: null };
}
