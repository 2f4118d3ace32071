import type { TestApi } from '../../harness/api.ts';

/** A secret of the callers' project; its name. */
export async function seedSecret(api: TestApi, name: string): Promise<string> {
  const { apiKey, projectId } = api.people['admin']!;
  const set = await api.server.inject({
    method: 'PUT',
    url: `/api/v1/project-secrets/${name}`,
    headers: { authorization: `Bearer ${apiKey}` },
    payload: { project_id: projectId, value: 'seeded for the fuzz' },
  });
  if (set.statusCode !== 200) throw new Error(`${set.statusCode} ${set.body}`);
  return name;
}
