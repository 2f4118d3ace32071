import { describe, expect, it } from 'vitest';
import { cascades, controlPlaneSources, tables } from './database-tables.ts';

/** Tables whose rows no code deletes, each with what bounds it or why its rows stay. */
const KEPT: Readonly<Record<string, string>> = {
  audit_logs: 'whole months are dropped by retention',
  outbox_events: 'whole months are dropped by retention',

  allocations: 'the record of what was leased',
  allocation_idleness: 'one row per allocation',
  allocation_meters: 'one row per allocation',
  allocation_outages: 'the record of what was served',
  allocation_resource_claims: 'the record of what was leased',
  capacity_reservations: 'the record of what was reserved; limited per project',
  public_ingresses: 'the record of which address led where',
  handed_over_resources: 'the record of who owned what',

  app_addresses: 'a label is never given to another app, so the row outlives it',
  app_artifact_smoke_runs: 'made by publishers; the evidence of a staging',
  app_artifacts: 'made by publishers; versions name them',
  app_manifests: 'made by publishers',
  app_manifest_versions: 'made by publishers; instances name them',
  app_usage_records: 'explains debits',
  app_usage_meters: 'explains debits',
  app_usage_prices: 'explains debits',
  app_usage_producers: 'made by operators',
  usage_records: 'explains debits',
  ledger_entries: 'the books',
  ledger_transactions: 'the books',
  statements: 'the books',
  statement_transactions: 'the books',
  payments: 'the books',
  payment_disputes: 'the books',
  payment_refunds: 'the books',
  payment_events: 'proves what the provider sent',
  payment_methods: 'payments name them',
  test_charges: 'only in the demo',
  balance_snapshots: 'one row per tenant and currency',
  billing_standings: 'one row per tenant and currency',
  auto_top_ups: 'one row per tenant',
  quota_usage: 'one row per holder and measure',
  blob_usage: 'one row per tenant',

  wipe_certificates: 'proves a wipe',
  issued_certificates: 'proves a wipe',
  certificate_keys: 'verifies certificates',
  host_cleanups: 'proves a cleanup',
  unproven_devices: 'one row per device',

  audit_clock: 'one row',
  audit_exports: 'a row per month',
  audit_retirements: 'a row per month',
  audit_segments: 'proves the audit log',
  policy_changes: 'the record of who set what',
  incidents: 'history for operators; an open one is not repeated',
  node_authorities: 'made by operators',
  node_burn_ins: 'made by operators',
  node_conversions: 'made by operators',
  node_enrolments: 'made by operators',
  node_onboardings: 'made by operators',
  node_onboarding_steps: 'made by operators',
  maintenance_windows: 'made by operators',
  nodes: 'one row per host',
  node_disks: 'one row per disk',
  node_resource_slots: 'one row per slot',
  images: 'made by operators',
  image_blessings: 'made by operators',
  regions: 'made by operators',
  sku_catalog: 'made by operators',

  api_keys: 'audit rows name them; live ones are limited per person',
  organizations: 'records name them; limited per person',
  projects: 'records name them; live ones are limited per tenant',
  users: 'records name them',
  platform_keys: 'one row per purpose',
  schema_functions: 'one row per function',
  schema_migrations: 'one row per migration',
};

const DELETES = [
  /deleteFrom\(\s*'(\w+)/g,
  /\bdelete\s+from\s+(?:only\s+)?(\w+)/gi,
  /\btruncate\s+(?:table\s+)?(\w+)/gi,
];

describe('the rows of every table', () => {
  it('are deleted by code, or stay for a named reason', () => {
    const bounded = new Set(
      controlPlaneSources.flatMap(({ text }) =>
        DELETES.flatMap((pattern) => [...text.matchAll(pattern)].map(([, table]) => table!)),
      ),
    );
    for (let size = -1; size !== bounded.size;) {
      size = bounded.size;
      for (const { table, parent } of cascades) if (bounded.has(parent)) bounded.add(table);
    }
    const growing = [...tables.keys()].filter((table) => !bounded.has(table));
    expect(growing.filter((table) => !(table in KEPT))).toEqual([]);
    expect(Object.keys(KEPT).filter((table) => !growing.includes(table))).toEqual([]);
  });
});
