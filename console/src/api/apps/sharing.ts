import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { everyPage } from '../paged.ts';
import { appKeys } from '../query-keys.ts';
import type { AppShareLink, AppSharing } from '../types.ts';

const LINKS = '/api/v1/app-instances/{app_instance_id}/share-links';

/** Links that open the app without signing in, newest first. */
export const shareLinksQuery = (id: string) =>
  queryOptions({
    queryKey: appKeys.shareLinks(id),
    queryFn: ({ signal }) =>
      everyPage<AppShareLink>((query) =>
        unwrap(client.GET(LINKS, { params: { path: { app_instance_id: id }, query }, signal })),
      ),
  });

export function setSharing({ id, sharing }: { id: string; sharing: AppSharing }) {
  return unwrap(
    client.PUT('/api/v1/app-instances/{app_instance_id}/address', {
      params: { path: { app_instance_id: id } },
      body: { sharing },
    }),
  );
}

export function createShareLink({ id, seconds, note }: { id: string; seconds: number; note: string }) {
  return unwrap(
    client.POST(LINKS, {
      params: { path: { app_instance_id: id } },
      body: { expires_in_seconds: seconds, note },
    }),
  );
}

export function revokeShareLink({ app_instance_id, id: share_link_id }: AppShareLink) {
  return unwrap(
    client.DELETE(`${LINKS}/{share_link_id}`, { params: { path: { app_instance_id, share_link_id } } }),
  );
}
