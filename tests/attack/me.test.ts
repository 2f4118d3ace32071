import { newId } from '@gpuaas/control-plane/platform/ids';
import { createGpuaasClient } from '@gpuaas/sdk/client';
import { readMe } from '@gpuaas/sdk/me';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApi, TEST_PUBLIC_URL, type TestApi } from '../harness/api.ts';
import { signUp, type Schemas, type TestPerson } from '../harness/tenancy.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

/** Makes somebody an admin of more tenants, each with so many projects. */
async function addTenants({ userId }: TestPerson, tenants: number, projects: number): Promise<void> {
  await sql`
    with made as (
      insert into organizations (id, name) select gen_random_uuid(), 'tenant ' || n from generate_series(1, ${tenants}) n
      returning id),
    projects as (
      insert into projects (id, organization_id, name)
      select gen_random_uuid(), id, 'project ' || n from made, generate_series(1, ${projects}) n),
    bound as (
      insert into permission_bindings (id, user_id, permission_group, scope, organization_id)
      select gen_random_uuid(), ${userId}, 'tenant_admin', 'tenant', id from made)
    insert into organization_members (id, organization_id, user_id)
    select gen_random_uuid(), id, ${userId} from made`.execute(api.services.db);
}

/** A key is of one organization, so the client asks with the person's sign-in. */
function clientOf(person: TestPerson) {
  return createGpuaasClient({
    baseUrl: TEST_PUBLIC_URL,
    fetch: async (input) => {
      const { url } = new Request(input);
      const { text, status } = await person.ask('GET', url.slice(TEST_PUBLIC_URL.length));
      return new Response(text, { status, headers: { 'content-type': 'application/json' } });
    },
  });
}

/** Every page, with the sizes of each. */
async function pagesOf(person: TestPerson): Promise<Schemas['Me'][]> {
  const pages: Schemas['Me'][] = [];
  let next: string | null = null;
  do {
    const query: string = next === null ? '' : `?page=${encodeURIComponent(next)}`;
    const page = await person.get<Schemas['Me']>(`/api/v1/me${query}`);
    pages.push(page);
    next = page.next_page;
  } while (next !== null && pages.length < 100);
  return pages;
}

it.each([
  { tenants: 130, projects: 9, because: 'many tenants and projects' },
  { tenants: 210, projects: 0, because: 'many tenants' },
  { tenants: 1, projects: 2500, because: 'one tenant with more projects than fit on a page' },
])('answers with pages that together name everything once: $because', async ({ tenants, projects }) => {
  const person = await signUp(api, 'everywhere');
  await addTenants(person, tenants, projects);
  const pages = await pagesOf(person);
  expect(pages.length).toBeGreaterThan(1);
  for (const { organizations, user } of pages) {
    expect(user?.id).toBe(person.userId);
    expect(organizations.length).toBeLessThanOrEqual(100);
    expect(organizations.flatMap((one) => one.projects).length).toBeLessThanOrEqual(1000);
  }
  const named = pages.flatMap(({ organizations }) => organizations);
  const projectIds = named.flatMap((one) => one.projects.map(({ id }) => id));
  expect(new Set(named.map(({ id }) => id)).size).toBe(tenants + 1);
  expect(projectIds).toHaveLength(tenants * projects + 1);
  expect(new Set(projectIds).size).toBe(projectIds.length);

  // Console and command line read it like this.
  const me = await readMe(clientOf(person));
  expect(me.organizations).toHaveLength(tenants + 1);
  expect(me.organizations.flatMap((one) => one.projects.map(({ id }) => id)).toSorted()).toEqual(
    projectIds.toSorted(),
  );
});

it('is one page for everybody else', async () => {
  const person = await signUp(api, `somebody ${newId().slice(0, 8)}`);
  expect(await person.get<Schemas['Me']>('/api/v1/me')).toMatchObject({ next_page: null });
});
