import { createHash } from 'node:crypto';
import type { TestApi } from '../../harness/api.ts';
import { imageOf, OCI_MANIFEST } from '../../harness/registry/oci-client.ts';

const LAYER = 'seeded layer';
const CONFIG = '{"architecture":"amd64","os":"linux"}';

/** A repository of the callers' project with one tag; its id. */
export async function seedRepository(api: TestApi, name: string, tag: string): Promise<string> {
  const { projectId } = api.people['admin']!;
  await pushImage(api, 'admin', `${projectId}/${name}`, tag);
  const { id } = await api.services.db
    .selectFrom('registry_repositories')
    .select('id')
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return id;
}

/** Pushes an image of one layer. */
export async function pushImage(
  api: TestApi,
  person: string,
  repository: string,
  tag: string,
): Promise<void> {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  for (const content of [LAYER, CONFIG]) {
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    const url = `/v2/${repository}/blobs/uploads/?digest=${digest}`;
    const pushed = await api.server.inject({
      method: 'POST',
      url,
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      payload: content,
    });
    if (pushed.statusCode !== 201) throw new Error(`${pushed.statusCode} ${pushed.body}`);
  }
  const put = await api.server.inject({
    method: 'PUT',
    url: `/v2/${repository}/manifests/${tag}`,
    headers: { ...headers, 'content-type': OCI_MANIFEST },
    payload: JSON.stringify(imageOf(LAYER)),
  });
  if (put.statusCode !== 201) throw new Error(`${put.statusCode} ${put.body}`);
}
