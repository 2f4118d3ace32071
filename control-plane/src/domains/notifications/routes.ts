import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import { notFound } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { requireUser } from '../tenancy/require-user.ts';
import { listNotifications } from './list-notifications.ts';
import { markAllRead, markRead } from './mark-read.ts';
import { describePreferences, setPreferences } from './set-preferences.ts';

type NotificationOperations = Pick<
  operations,
  | 'listNotifications'
  | 'markNotificationRead'
  | 'markAllNotificationsRead'
  | 'getNotificationPreferences'
  | 'setNotificationPreferences'
>;

export function notificationRoutes({
  clock,
  policies,
}: Pick<Services, 'clock' | 'policies'>): Handlers<NotificationOperations, Caller> {
  return {
    listNotifications({ caller, query, read }) {
      const userId = requireUser(caller);
      return read(async (tx) => ({
        status: 200,
        body: await listNotifications(tx, userId, query),
      }));
    },
    markNotificationRead({ caller, params, audit, mutate }) {
      audit({ targetType: 'notification', targetId: params.notification_id });
      return mutate(async (tx) => ({
        status: 200,
        body: await markRead(tx, clock.now(), requireUser(caller), params.notification_id),
      }));
    },
    markAllNotificationsRead({ caller, body, audit, mutate }) {
      audit({ targetType: 'user', targetId: caller.id });
      return mutate(async (tx) => ({
        status: 200,
        body: await markAllRead(tx, clock.now(), requireUser(caller), body.up_to),
      }));
    },
    getNotificationPreferences({ caller, query, read }) {
      const userId = requireUser(caller);
      const organizationId = query.organization_id ?? null;
      if (organizationId !== null && !caller.organizationIds.includes(organizationId)) throw notFound();
      return read(async (tx) => ({
        status: 200,
        body: await describePreferences(policies, tx, userId, organizationId),
      }));
    },
    setNotificationPreferences({ caller, body, audit, mutate }) {
      audit({ targetType: 'user', targetId: caller.id });
      return mutate(async (tx) => {
        const userId = requireUser(caller);
        await setPreferences(tx, clock.now(), userId, body.choices);
        audit({ targetType: 'user', targetId: userId, detail: { choices: body.choices } });
        return { status: 200, body: await describePreferences(policies, tx, userId, null) };
      });
    },
  };
}
