import type { NotificationKind } from '@gpuaas/contracts/generated/notifications.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';

export type Channel = 'inbox' | 'email';

export interface ChannelPreference {
  kind: string;
  channel: string;
  enabled: boolean;
}

/** The person's own choice, or else the policy of the organization. */
export function isSubscribed(
  policies: Policies,
  choices: readonly ChannelPreference[],
  asked: { kind: NotificationKind; channel: Channel; organizationId: string | null },
): { enabled: boolean; chosen: boolean } {
  const { kind, channel, organizationId } = asked;
  const choice = choices.find((one) => one.kind === kind && one.channel === channel);
  if (choice) return { enabled: choice.enabled, chosen: true };
  return { enabled: defaults(policies, channel, organizationId).includes(kind), chosen: false };
}

function defaults(
  policies: Policies,
  channel: Channel,
  organizationId: string | null,
): readonly NotificationKind[] {
  const scope = organizationId === null ? {} : { organizationId };
  if (channel === 'inbox') return policies.get('notifications.inbox_kinds', scope);
  return policies.get('notifications.email_kinds', scope);
}

export async function preferencesByUser(
  tx: Tx,
  userIds: string[],
): Promise<Map<string, ChannelPreference[]>> {
  if (userIds.length === 0) return new Map();
  const rows = await tx
    .selectFrom('notification_preferences')
    .select(['user_id', 'kind', 'channel', 'enabled'])
    .where('user_id', 'in', userIds)
    .execute();
  return Map.groupBy(rows, (row) => row.user_id);
}

/**
 * Notifications about other people's leases go only to people who chose them, unless the organization's
 * default includes them.
 */
export async function maySubscribeToOthersLeases(
  policies: Policies,
  tx: Tx,
  organizationId: string,
): Promise<string[] | 'everybody'> {
  const channels: readonly Channel[] = ['inbox', 'email'];
  if (channels.some((channel) => defaults(policies, channel, organizationId).includes('project_leases'))) {
    return 'everybody';
  }
  const rows = await tx
    .selectFrom('notification_preferences')
    .select('user_id')
    .distinct()
    .where('kind', '=', 'project_leases')
    .where('enabled', '=', true)
    .execute();
  return rows.map((row) => row.user_id);
}
