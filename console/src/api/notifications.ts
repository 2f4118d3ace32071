import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from './client.ts';
import { pagedQuery } from './paged.ts';
import { ownKeys } from './query-keys.ts';
import type { NotificationPreferences } from './types.ts';

export const notificationsQuery = pagedQuery([...ownKeys.notifications, 'list'], (page, signal) =>
  unwrap(client.GET('/api/v1/notifications', { params: { query: page }, signal })),
);

/** How many were not read. */
export const unreadQuery = queryOptions({
  queryKey: [...ownKeys.notifications, 'unread'],
  queryFn: async ({ signal }) => {
    const params = { query: { limit: 1 } };
    return (await unwrap(client.GET('/api/v1/notifications', { params, signal }))).unread_count;
  },
});

export function markRead(id: string) {
  return unwrap(
    client.POST('/api/v1/notifications/{notification_id}/read', {
      params: { path: { notification_id: id } },
    }),
  );
}

/** What came after the newest one that was seen stays unread. */
export function markAllRead(upTo: string) {
  return unwrap(client.POST('/api/v1/notifications/read-all', { body: { up_to: upTo } }));
}

export const preferencesQuery = queryOptions({
  queryKey: ownKeys.notificationPreferences,
  queryFn: async ({ signal }) =>
    (await unwrap(client.GET('/api/v1/notification-preferences', { params: { query: {} }, signal })))
      .preferences,
});

export interface Preference {
  kind: NotificationPreferences['preferences'][number]['kind'];
  channel: 'inbox' | 'email';
  enabled: boolean;
}

export function setPreference(choice: Preference) {
  return unwrap(client.PUT('/api/v1/notification-preferences', { body: { choices: [choice] } }));
}
