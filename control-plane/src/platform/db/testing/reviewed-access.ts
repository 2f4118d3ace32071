/**
 * Places where the database lets a role see every tenant's rows. The tests compare this list with the catalog
 * in both directions: the two must be equal.
 */

/** Roles exempt from row-level security. None of ours may be. */
export const rolesWithoutRowSecurity: Record<string, string> = {
  'the login user':
    'owns the schema and migrates it; the platform leaves it at the begin of every transaction',
};

/** `table: policy: role`, for policies that hold for every row. */
export const unrestrictedPolicies: Record<string, string> = {
  'organizations: every: gpuaas_operator': 'operators manage all tenants',
  'organizations: opening: gpuaas_auth':
    'creates a tenant for a person without one, and closes one; sees only the id',
  'projects: every: gpuaas_operator': 'operators manage all tenants',
  'projects: opening: gpuaas_auth':
    'makes the first project of a tenant, closes one, and moves those of a deleted team; sees ids only',
  'permission_bindings: every: gpuaas_auth': 'rights are looked up before it is known whose request it is',
  'organization_members: every: gpuaas_auth':
    'memberships are looked up before it is known whose request it is, and made at sign-up',
  'invitations: every: gpuaas_auth': 'a person who accepts one does not belong to the tenant yet',
  'team_members: every: gpuaas_auth': 'rights are looked up before it is known whose request it is',
  'permission_groups: every: gpuaas_auth': 'rights are looked up before it is known whose request it is',
  'service_accounts: every_read: gpuaas_worker': 'workers tell people of accounts of every tenant',
  'service_accounts: every: gpuaas_auth': 'a token is looked up before it is known whose request it is',
  'service_account_tokens: every: gpuaas_auth': 'a token is looked up before it is known whose request it is',
  'api_keys: every: gpuaas_auth': 'a key is looked up before it is known whose request it is',
  'users: every: gpuaas_auth': 'people are looked up before it is known whose request it is',
  'identity_providers: every: gpuaas_auth': 'the identity provider is looked up before the caller is known',
  'identity_provider_domains: every: gpuaas_auth':
    'where somebody signs in is looked up before it is known whose request it is',
  'sign_ins: every: gpuaas_auth': 'a sign-in is looked up before it is known whose request it is',
  'pending_logins: every: gpuaas_auth': 'a sign-in belongs to nobody until it comes back',
  'audit_logs: sign_in: gpuaas_auth': 'sign-ins, of people of every tenant; no right to read',
  'audit_logs: every: gpuaas_operator': 'operators read the audit log of the platform and write to it',
  'audit_logs: every: gpuaas_worker': 'workers act for every tenant; sealing and verifying read every row',
  'audit_logs: every: gpuaas_gateway': 'a token decides whose terminal opens; no right to read',
  'outbox_events: every: gpuaas_operator': 'the operators’ live stream',
  'outbox_events: every: gpuaas_placement': 'only subject and transaction id, to keep events in order',
  'outbox_events: every: gpuaas_worker': 'consumers act for every tenant',
  'outbox_events: every: gpuaas_relay': 'reads the whole log once and hands each event to who may see it',
  'outbox_events: every: gpuaas_node': 'only subject and transaction id, to keep events in order',
  'outbox_events: every_write: gpuaas_operator': 'operators emit events for tenants too',
  'outbox_events: every_write: gpuaas_worker': 'workers act for every tenant',
  'node_tasks: every: gpuaas_operator': 'operators see all hosts',
  'node_tasks: every: gpuaas_worker': 'workers give tasks to all hosts',
  'allocations: every: gpuaas_operator': 'operators see what runs on their hosts',
  'allocations: every: gpuaas_worker': 'workers act for every tenant',
  'allocations: every: gpuaas_gateway': 'a token decides which machine is opened; seven columns only',
  'allocation_overviews: every: gpuaas_operator': 'what operators see of allocations, as last shown',
  'allocation_overviews: every: gpuaas_worker': 'projected from the events of every tenant',
  'allocation_resource_claims: every: gpuaas_operator': 'operators see which slot is held by what',
  'allocation_resource_claims: every: gpuaas_worker': 'workers act for every tenant',
  'wipe_certificates: every: gpuaas_operator': 'operators see the proof of every wipe',
  'wipe_certificates: every: gpuaas_worker': 'workers record every wipe',
  'unproven_devices: every: gpuaas_operator': 'operators decide about devices of the whole fleet',
  'unproven_devices: every: gpuaas_worker': 'workers note devices that slots give up unproven',
  'incidents: every: gpuaas_operator': 'operators manage the whole platform',
  'incidents: every: gpuaas_worker': 'workers open and close incidents of everything',
  'capacity_reservations: every: gpuaas_operator': 'operators see what their hosts are promised to',
  'capacity_reservations: every: gpuaas_worker':
    'workers count the reserved capacity in use by every project',
  'node_promises: every: gpuaas_placement': 'what is promised to others must not be sold',
  'node_promises: every: gpuaas_operator': 'operators see what their hosts are promised to',
  'node_promises: every: gpuaas_worker': 'the line is one for all tenants',
  'queued_launches: every: gpuaas_operator': 'operators see who waits for their hosts',
  'queued_launches: every: gpuaas_worker': 'the line is one for all tenants',
  'sku_entitlements: every_read: gpuaas_worker': 'whether each queued tenant may buy the product',
  'issued_certificates: every: gpuaas_operator': 'auditors of the platform check the whole chain',
  'issued_certificates: every: gpuaas_worker': 'each certificate builds on the previous one, of any tenant',
  'claim_cells: every: gpuaas_operator': 'operators see which host is held by what',
  'claim_cells: every: gpuaas_placement':
    'a taken cell cannot be leased again, whatever its tenant; cells name no tenant',
  'claim_cells: every: gpuaas_worker': 'workers act for every tenant',
  'host_cleanups: every: gpuaas_operator': 'operators see the proof of every cleanup',
  'host_cleanups: every: gpuaas_worker': 'workers record every cleanup',
  'allocation_access_keys: every: gpuaas_worker':
    'made and destroyed with the machine; the private half is not readable',
  'allocation_access_keys: every: gpuaas_gateway': 'a token decides which machine is opened',
  'public_ingresses: every: gpuaas_operator': 'operators see what is reachable on their hosts',
  'public_ingresses: every: gpuaas_worker':
    'ports of the pool are given out to all tenants, and hosts asked for them',
  'allocation_user_data: every: gpuaas_placement': 'written with the launch; no right to read',
  'terminal_recordings: every: gpuaas_gateway':
    'a token decides whose terminal is recorded; no right to read',
  'terminal_recordings: every: gpuaas_worker': 'forgets old ones of every tenant; sees nothing but their age',
  'terminal_recording_parts: every: gpuaas_gateway': 'writes what a terminal shows; no right to read',
  'blob_holders: every: gpuaas_blobs': 'the store keeps the content of every tenant',
  'blob_references: every: gpuaas_blobs': 'the store keeps the content of every tenant',
  'blob_usage: every: gpuaas_blobs': 'the store compares every tenant with its quota',
  'project_secrets: opened: gpuaas_app_runtime':
    'app instances of every project get their secrets; people read no value',
  'app_tickets: every: gpuaas_gateway': 'the ticket alone identifies its holder',
  'app_addresses: every: gpuaas_gateway': 'the host name decides which app is opened',
  'app_instances: served: gpuaas_gateway': 'the host name decides which app is opened; nine columns only',
  'app_instance_members: served: gpuaas_gateway': 'finds the port of an app; two columns only',
  'app_member_ports: served: gpuaas_gateway': 'finds the port of an app',
  'app_request_counts: every: gpuaas_gateway': 'counts requests of every tenant; no right to read',
  'app_request_counts: every: gpuaas_worker': 'bills the requests of every tenant',
  'project_secrets: named: gpuaas_worker': 'gates ask whether a secret exists; names only',
  'app_instances: every: gpuaas_operator': 'metrics count the instances of all tenants',
  'app_instances: every: gpuaas_worker': 'workers admit and end instances of every tenant',
  'app_instances: every: gpuaas_app_runtime': 'starts and stops instances of every tenant',
  'app_instance_members: every: gpuaas_worker':
    'workers end members of every tenant and prove their teardown',
  'app_instance_members: every: gpuaas_app_runtime': 'observes members of every tenant',
  'app_member_ports: every: gpuaas_worker': 'a port of a machine is taken once, by whichever project',
  'app_member_ports: every: gpuaas_app_runtime': 'gives ports back with the proof of a teardown',
  'app_member_secrets: every: gpuaas_worker': 'deletes copies with the proof of a teardown; no right to read',
  'app_member_secrets: every: gpuaas_app_runtime': 'takes secrets out of the logs of every tenant',
  'app_instance_events: every: gpuaas_worker': 'records what happens to instances of every tenant',
  'app_instance_events: every: gpuaas_app_runtime': 'records what happens to instances of every tenant',
  'app_log_pieces: every: gpuaas_worker': 'prunes logs of every tenant',
  'app_log_pieces: every: gpuaas_app_runtime': 'keeps the logs of every tenant',
  'allocations: runtime: gpuaas_app_runtime': 'enters machines of every tenant; seven columns only',
  'allocation_access_keys: runtime: gpuaas_app_runtime': 'enters machines that have members',
  'outbox_events: runtime: gpuaas_app_runtime':
    'only subject, time and transaction id, to keep events in order',
  'outbox_events: runtime_write: gpuaas_app_runtime': 'emits events of instances of every tenant',
  'registry_repositories: every: gpuaas_worker': 'deleted repositories of every tenant are emptied',
  'registry_blobs: every: gpuaas_worker': 'content that no manifest names is removed, of every tenant',
  'registry_manifests: every: gpuaas_worker': 'deleted repositories of every tenant are emptied',
  'registry_manifest_blobs: every: gpuaas_worker': 'says which content of every tenant stays',
  'registry_manifest_children: every: gpuaas_worker': 'deleted repositories of every tenant are emptied',
  'registry_tags: every: gpuaas_worker': 'deleted repositories of every tenant are emptied',
  'registry_uploads: every: gpuaas_worker': 'uploads that were left are removed, of every tenant',
  'registry_upload_chunks: every: gpuaas_worker': 'uploads that were left are removed, of every tenant',
  'terminal_tokens: every: gpuaas_gateway': 'the token alone identifies its holder',
  'ledger_transactions: every: gpuaas_operator':
    'operators give credit to any tenant and correct its balance',
  'ledger_entries: every: gpuaas_operator': 'operators give credit to any tenant and correct its balance',
  'quota_limits: every: gpuaas_operator': 'operators say what any tenant may hold',
  'quota_usage: every: gpuaas_operator': 'operators see what every tenant holds',
  'quota_usage: every: gpuaas_worker': 'the counters of all tenants are compared with their claims',
  'ledger_transactions: posts: gpuaas_worker': 'the meter debits every tenant',
  'ledger_entries: posts: gpuaas_worker': 'the meter debits every tenant',
  'allocation_outages: every: gpuaas_operator': 'operators see what was not served on their hosts',
  'allocation_outages: every: gpuaas_worker': 'the meter follows every lease',
  'allocation_meters: every: gpuaas_operator': 'operators see what runs on their hosts and what it brings',
  'allocation_meters: every: gpuaas_worker': 'the meter follows every lease',
  'usage_records: every: gpuaas_operator': 'operators see what was served',
  'usage_records: every: gpuaas_worker': 'the meter follows every lease',
  'app_usage_meters: every: gpuaas_operator': 'producers report the usage of any tenant',
  'app_usage_records: every: gpuaas_operator': 'producers report the usage of any tenant, operators see it',
  'app_usage_records: every: gpuaas_worker': 'budgets and statements of every tenant',
  'allocation_idleness: every: gpuaas_operator': 'operators see what runs on their hosts',
  'allocation_idleness: every: gpuaas_worker': 'what hosts show of every lease',
  'organizations: customers: gpuaas_worker': 'what the payment provider calls each tenant; three columns',
  'payments: every: gpuaas_operator': 'operators see and record payments of any tenant',
  'payments: every: gpuaas_worker': 'the payment provider reports every tenant’s payments',
  'payment_methods: every: gpuaas_operator': 'operators see what tenants pay with: labels, no numbers',
  'payment_methods: every: gpuaas_worker': 'kept methods of every tenant are charged',
  'payment_refunds: every: gpuaas_operator': 'operators refund',
  'payment_refunds: every: gpuaas_worker': 'the payment provider reports every tenant’s refunds',
  'payment_disputes: every: gpuaas_operator': 'operators answer disputes',
  'payment_disputes: every: gpuaas_worker': 'the payment provider reports every tenant’s disputes',
  'auto_top_ups: every: gpuaas_worker': 'tops up every tenant that asked for it',
  'statements: every: gpuaas_operator': 'operators see tenants’ statements',
  'statements: every: gpuaas_worker': 'closes the month of every tenant',
  'statement_transactions: every: gpuaas_operator': 'operators see tenants’ statements',
  'statement_transactions: every: gpuaas_worker': 'closes the month of every tenant',
  'projects: names: gpuaas_worker': 'statements and notifications name projects; two columns',
  'budgets: every: gpuaas_operator': 'operators see what tenants allow themselves',
  'budgets: every: gpuaas_worker': 'policies act on every tenant',
  'budget_notices: every: gpuaas_operator': 'operators see tenants’ budget notices',
  'budget_notices: every: gpuaas_worker': 'policies act on every tenant',
  'team_members: every_read: gpuaas_worker': 'whose leases count to the budget of a team',
  'billing_standings: every: gpuaas_operator': 'operators see how any tenant stands',
  'billing_standings: every: gpuaas_worker': 'policies act on every tenant',
  'balance_snapshots: every: gpuaas_operator': 'operators see the balance of any tenant',
  'balance_snapshots: every: gpuaas_worker': 'balance checks read every tenant',
  'sku_prices: every: gpuaas_operator': 'operators write the price book, for single tenants too',
  'sku_prices: every: gpuaas_worker': 'workers act for every tenant',
  'sku_entitlements: every: gpuaas_operator': 'operators say what any tenant may buy',
  'notifications: every: gpuaas_worker': 'notifies the people of every tenant',
  'notification_preferences: every: gpuaas_worker': 'their preferences for notifications',
  'notification_emails: every: gpuaas_worker': 'notifies the people of every tenant',
  'notification_emails: counted: gpuaas_operator': 'how many wait, for metrics; state and age only',
  'teams: names: gpuaas_worker': 'notifications name the team; id and name only',
  'webhooks: every: gpuaas_worker': 'delivers the events of every tenant',
  'webhook_deliveries: every: gpuaas_worker': 'delivers the events of every tenant',
  'webhook_attempts: every: gpuaas_worker': 'delivers the events of every tenant',
  'policy_values: every: gpuaas_operator': 'operators set policies for the platform and for single tenants',
  'policy_values: every_read: gpuaas_worker': 'the policy client keeps every value in memory',
  'policy_changes: every: gpuaas_operator': 'operators see how a value came to be, and add to it',
};

/** Tables with a tenant column but without row-level security. */
export const tenantTablesWithoutRowSecurity: Record<string, string> = {};

/** Tenant tables with rows that belong to no tenant and are visible to all. */
export const tablesWithSharedRows: Record<string, string> = {
  sku_prices: 'list prices; a tenant’s own name it',
};

/** Tables that none of our roles may touch. */
export const ownerOnlyTables: Record<string, string> = {
  schema_functions: 'written by migrate alone',
  schema_migrations: 'written by migrations alone',
  platform_keys: 'read once at the start of a process, before anybody is served',
  audit_clock: 'read by the defaults of audit rows; changed after a restore alone',
};

/** Functions that run as the owner, bypassing row-level security: their callers, and why that is safe. */
export const securityDefinerFunctions: Record<string, { callers: string; because: string }> = {
  audit_horizon: { callers: 'everybody', because: 'a transaction number, of no tenant' },
  audit_position: { callers: 'everybody', because: 'the default of a column of audit rows' },
  create_month_partitions: { callers: 'worker', because: 'months are made before they begin' },
  drop_month_partitions: {
    callers: 'worker',
    because: 'whole months go when they are exported and old enough',
  },
  committed_funds: {
    callers: 'operator, placement, tenant, worker',
    because: 'what a tenant is bound to pay; a tenant is shown its own only',
  },
  hold_funds: {
    callers: 'operator, placement, tenant, worker',
    because: 'the same as nobody else changes it; a tenant is shown its own only',
  },
  hold_quota_usage: {
    callers: 'placement, worker',
    because: 'no role may change counters; it only locks and shows them',
  },
  keep_answers: { callers: 'placement', because: 'keys of many callers; it adds, and shows nothing' },
  launch_facts: { callers: 'placement', because: 'shows each caller what its own scope would' },
  lease_heard_at: {
    callers: 'operator, tenant, worker',
    because: 'only the time of a host’s last heartbeat',
  },
  prune_node_tasks: {
    callers: 'worker',
    because: 'deletes finished tasks of every host after their retention, and shows none',
  },
  live_app_instance: {
    callers: 'auth',
    because: 'the owner of a credential must be found before the tenant is known',
  },
  lock_free_slots: { callers: 'placement', because: 'slots and nodes belong to no tenant' },
  open_quota_usage: { callers: 'placement, worker', because: 'makes counters of nothing' },
  placement_news: { callers: 'placement', because: 'which slots are taken, not by whom' },
  sell: {
    callers: 'placement',
    because: 'writes for the tenants of its launches, and reveals nothing about others',
  },
  signal_workflow: { callers: 'node, worker', because: 'a message to a workflow; it shows nothing' },
};
