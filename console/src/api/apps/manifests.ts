import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { everyPage, pagedQuery } from '../paged.ts';
import { appKeys } from '../query-keys.ts';
import type { AppRequestPrice, AppTarget, CreateAppInstance } from '../types.ts';

/** Apps that can be launched, by slug. */
export const manifestsQuery = pagedQuery(appKeys.manifests, (page, signal) =>
  unwrap(client.GET('/api/v1/app-manifests', { params: { query: page }, signal })),
);

export const manifestQuery = (slug: string) =>
  queryOptions({
    queryKey: appKeys.manifest(slug),
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/v1/app-manifests/{app_slug}', { params: { path: { app_slug: slug } }, signal }),
      ),
  });

export interface DryRun {
  targets: AppTarget[];
  /** Null if requests are free. */
  requestPrice: AppRequestPrice | null;
}

/** A dry run of the launch on each allocation of the project. */
export const dryRunQuery = (slug: string, projectId: string) =>
  queryOptions({
    queryKey: [...appKeys.targets, slug, projectId],
    queryFn: async ({ signal }): Promise<DryRun> => {
      let requestPrice: AppRequestPrice | null = null;
      const targets = await everyPage<AppTarget>(async (page) => {
        const answer = await unwrap(
          client.GET('/api/v1/app-manifests/{app_slug}/compatibility', {
            params: { path: { app_slug: slug }, query: { project_id: projectId, ...page } },
            signal,
          }),
        );
        requestPrice = answer.request_price;
        return answer;
      });
      return { targets, requestPrice };
    },
  });

export interface AppLaunch {
  body: CreateAppInstance;
  /** Created once per click, so that a retry after a lost response cannot start it twice. */
  idempotencyKey: string;
}

export function launchApp({ body, idempotencyKey }: AppLaunch) {
  const params = { header: { 'X-Idempotency-Key': idempotencyKey } };
  return unwrap(client.POST('/api/v1/app-instances', { body, params }));
}
