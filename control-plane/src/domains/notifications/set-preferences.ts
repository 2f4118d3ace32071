import { notificationKinds } from '@gpuaas/contracts/generated/notifications.ts';
import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import { entriesOf } from '@gpuaas/contracts/typed-keys';
import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import { preferencesByUser, isSubscribed } from './preferences.ts';

export type PreferenceChanges =
  operations['setNotificationPreferences']['requestBody']['content']['application/json']['choices'];

export async function setPreferences(
  tx: Tx,
  now: Date,
  userId: string,
  choices: PreferenceChanges,
): Promise<void> {
  for (const { kind, channel, enabled } of choices) {
    if (enabled === null) {
      await tx
        .deleteFrom('notification_preferences')
        .where('user_id', '=', userId)
        .where('kind', '=', kind)
        .where('channel', '=', channel)
        .execute();
      continue;
    }
    await tx
      .insertInto('notification_preferences')
      .values({ user_id: userId, kind, channel, enabled, updated_at: now })
      .onConflict((c) => c.columns(['user_id', 'kind', 'channel']).doUpdateSet({ enabled, updated_at: now }))
      .execute();
  }
}

export async function describePreferences(
  policies: Policies,
  tx: Tx,
  userId: string,
  organizationId: string | null,
): Promise<components['schemas']['NotificationPreferences']> {
  const choices = (await preferencesByUser(tx, [userId])).get(userId) ?? [];
  const kinds = entriesOf(notificationKinds);
  return {
    preferences: kinds.map(([kind, about]) => ({
      kind,
      about,
      inbox: isSubscribed(policies, choices, { kind, channel: 'inbox', organizationId }),
      email: isSubscribed(policies, choices, { kind, channel: 'email', organizationId }),
    })),
  };
}
