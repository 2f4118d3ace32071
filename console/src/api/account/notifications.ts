import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { userKeys } from '../query-keys.ts';
import type { NotificationPreferences } from '../types.ts';

export const notificationsQuery = pagedQuery([...userKeys.notifications, 'list'], (page, signal) =>
  unwrap(client.GET('/api/v1/notifications', { params: { query: page }, signal })),
);

/** How many were not read. */
export const unreadQuery = queryOptions({
  queryKey: [...userKeys.notifications, 'unread'],
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

/** Notifications after the newest one on screen stay unread. */
export function markAllRead(upTo: string) {
  return unwrap(client.POST('/api/v1/notifications/read-all', { body: { up_to: upTo } }));
}

export const preferencesQuery = queryOptions({
  queryKey: userKeys.notificationPreferences,
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
