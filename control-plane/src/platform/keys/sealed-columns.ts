import type { SealPurpose } from './seal.ts';

/** A column with sealed values: its primary key, its purpose, and the context of each value. */
export interface SealedColumn {
  table: string;
  column: string;
  /** The primary key. */
  by: readonly [string, ...string[]];
  purpose: SealPurpose;
  context(...key: readonly unknown[]): string;
}

/** Every sealed column of the database. A test compares the list with the schema. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    table: 'platform_keys',
    column: 'sealed_private_key',
    by: ['name'],
    purpose: 'platform_key',
    context: (name) => String(name),
  },
  {
    table: 'node_authorities',
    column: 'sealed_private_key',
    by: ['id'],
    purpose: 'node_authority',
    context: () => 'ca',
  },
  {
    table: 'certificate_keys',
    column: 'sealed_private_key',
    by: ['id'],
    purpose: 'certificate_key',
    context: () => 'certificate',
  },
  {
    table: 'identity_providers',
    column: 'sealed_client_secret',
    by: ['id'],
    purpose: 'client_secret',
    context: (id) => `identity_provider:${String(id)}`,
  },
  ...['sealed_secret', 'sealed_previous_secret'].map((column) => ({
    table: 'webhooks',
    column,
    by: ['id'] as const,
    purpose: 'webhook_secret' as const,
    context: (id: unknown) => `webhook:${String(id)}`,
  })),
  {
    table: 'sign_ins',
    column: 'sealed_id_token',
    by: ['id'],
    purpose: 'id_token',
    context: (id) => `sign_in:${String(id)}`,
  },
  {
    table: 'allocation_access_keys',
    column: 'sealed_private_key',
    by: ['allocation_id'],
    purpose: 'access_key',
    context: (id) => String(id),
  },
  {
    table: 'allocation_user_data',
    column: 'sealed',
    by: ['allocation_id'],
    purpose: 'user_data',
    context: (id) => String(id),
  },
  {
    table: 'app_member_secrets',
    column: 'sealed_values',
    by: ['member_id'],
    purpose: 'app_member_secrets',
    context: (id) => `app_member:${String(id)}`,
  },
  {
    table: 'project_secrets',
    column: 'sealed_value',
    by: ['id'],
    purpose: 'project_secret',
    context: (id) => `project_secret:${String(id)}`,
  },
  {
    table: 'node_onboardings',
    column: 'sealed_token',
    by: ['id'],
    purpose: 'enrolment_token',
    context: (id) => `node_onboarding:${String(id)}`,
  },
  {
    table: 'terminal_recording_parts',
    column: 'sealed',
    by: ['recording_id', 'part'],
    purpose: 'terminal_recording',
    context: (recording, part) => `${String(recording)} ${String(part)}`,
  },
];
