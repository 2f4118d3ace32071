import { sql } from 'kysely';
import { newId } from '../../ids.ts';
import type { Db } from '../database.ts';

export interface TenantRows {
  organizationId: string;
  userId: string;
  allocationId: string;
  nodeId: string;
  webhookId: string;
}

/** One row for the tenant in every table that holds something of tenants. */
export async function writeTenantRows(db: Db, name: string): Promise<TenantRows> {
  const [organization, project, user, node, slot, allocation, claim, task, webhook, delivery] = Array.from(
    { length: 10 },
    newId,
  ) as [string, string, string, string, string, string, string, string, string, string];
  const [team, serviceAccount, wipe] = [newId(), newId(), newId()];
  const correlation = newId();
  const secret = Buffer.from(newId());
  await sql`
    with region as (select region from regions order by status desc limit 1)
    insert into nodes (id, hostname, region, pool, rack, node_family)
    select ${node}::uuid, ${`host-${name}`}, region, 'p', 'r', 'f' from region`.execute(db);
  await sql`insert into organizations (id, name) values (${organization}, ${name})`.execute(db);
  await sql`insert into teams (id, organization_id, name, is_default)
    values (${team}, ${organization}, 't', true)`.execute(db);
  await sql`insert into projects (id, organization_id, team_id, name)
    values (${project}, ${organization}, ${team}, 'default')`.execute(db);
  await sql`insert into users (id, issuer, subject, email, name)
    values (${user}, 'test', ${name}, ${`${name}@example.test`}, ${name})`.execute(db);
  await sql`insert into organization_members (id, organization_id, user_id)
    values (${newId()}, ${organization}, ${user})`.execute(db);
  await sql`insert into team_members (team_id, user_id, organization_id)
    values (${team}, ${user}, ${organization})`.execute(db);
  await sql`insert into permission_groups (id, organization_id, name, permissions)
    values (${newId()}, ${organization}, 'g', '{allocation.read}')`.execute(db);
  await sql`insert into service_accounts (id, organization_id, project_id, name, created_by)
    values (${serviceAccount}, ${organization}, ${project}, 's', ${user})`.execute(db);
  await sql`insert into service_account_tokens (id, organization_id, service_account_id, prefix, secret_hash, expires_at)
    values (${newId()}, ${organization}, ${serviceAccount}, 'p', ${secret}, now() + interval '1 hour')`.execute(
    db,
  );
  await sql`insert into api_keys (id, user_id, organization_id, name, prefix, secret_hash)
    values (${newId()}, ${user}, ${organization}, 'k', 'p', ${secret})`.execute(db);
  await sql`insert into invitations (id, organization_id, email, token_hash, permission_group, invited_by, expires_at)
    values (${newId()}, ${organization}, 'a@b', ${secret}, 'regular_user', ${user}, now())`.execute(db);
  await sql`insert into ssh_keys (id, organization_id, project_id, name, type, public_key, fingerprint)
    values (${newId()}, ${organization}, ${project}, 'k', 't', 'p', 'f')`.execute(db);
  await sql`insert into handed_over_resources (id, organization_id, project_id, user_id, user_email, reason,
      resource_type, resource_id, resource_name, name)
    values (${newId()}, ${organization}, ${project}, ${user}, 'e', 'left', 't', ${newId()}, 'r', 'n')`.execute(
    db,
  );
  await sql`insert into permission_bindings (id, user_id, permission_group, scope, organization_id)
    values (${newId()}, ${user}, 'tenant_admin', 'tenant', ${organization})`.execute(db);
  await sql`insert into node_resource_slots (id, node_id, slot_index, state, gpu_model, gpu_pci_address,
      fabric_vf_pci_address, nvme_serial, nvme_device, management_mac, private_ip, ovs_port, numa_node, pcie_root,
      vcpu, memory_gib, capacity_metadata)
    values (${slot}, ${node}, 0, 'in_use', 'm', 'g', 'v', 's', 'd', 'm', 'i', 'o', 0, 'p', 1, 1,
      '{"fabric_claim_mode": "per_slot_vf", "destructive_wipe_policy": "blkdiscard"}')`.execute(db);
  await sql`insert into allocations (id, organization_id, project_id, name, sku, gpu_count, image, image_digest,
      region, state, node_id, currency, per_gpu_hour_micros, price_id, created_by, correlation_id)
    select ${allocation}::uuid, ${organization}::uuid, ${project}::uuid, 'a', p.sku, 1, i.image,
      'sha256:' || repeat('5e', 32), p.region,
      'active', ${node}::uuid, p.currency, 1, p.id, ${user}::uuid, ${correlation}::uuid
    from sku_prices p, images i limit 1`.execute(db);
  await sql`insert into node_tasks (id, node_id, kind, params, correlation_id, expires_at, subject_type, subject_id)
    values (${task}, ${node}, 'slice.vm_release', '{}', ${correlation}, now(), 'allocation', ${allocation})`.execute(
    db,
  );
  await sql`insert into allocation_resource_claims (id, allocation_id, node_id, claim_kind, slot_id, snapshot)
    values (${claim}, ${allocation}, ${node}, 'slot', ${slot}, '{}')`.execute(db);
  await sql`insert into quota_limits (organization_id, holder_type, holder_id, measure, unit, set_by, amount)
    values (${organization}, 'project', ${project}, 'allocations', '', 'tenant', 5)`.execute(db);
  await sql`insert into sku_prices (id, organization_id, sku, region, currency, per_gpu_hour_micros, effective_from)
    select gen_random_uuid(), ${organization}, sku, region, currency, 1, effective_from
    from sku_prices where organization_id is null limit 1`.execute(db);
  await sql`insert into sku_entitlements (organization_id, sku, entitled)
    select ${organization}, sku, true from sku_catalog limit 1`.execute(db);
  await sql`insert into wipe_certificates (id, allocation_id, slot_id, slot_index, node_task_id, device_serial, method,
      verified, verification, started_at, finished_at)
    values (${wipe}, ${allocation}, ${slot}, 0, ${task}, 's', 'blkdiscard', true, '', now(), now())`.execute(
    db,
  );
  await sql`insert into unproven_devices (kind, serial, slot_id, allocation_id, slot_index, since)
    values ('disk', upper(${name}), ${slot}, ${allocation}, 0, now())`.execute(db);
  await sql`insert into certificate_keys (id, key_id, public_pem, retired_at)
    values (${newId()}, ${name}, 'p', now())`.execute(db);
  await sql`insert into issued_certificates (sequence, wipe_certificate_id, statement, hash, key_id, signature, issued_at)
    select count(*) + 1, ${wipe}::uuid, '{}', repeat('0', 64), ${name}, 's', now() from issued_certificates`.execute(
    db,
  );
  await sql`insert into host_cleanups (id, allocation_id, node_id, node_task_id, method, verified, verification,
      started_at, finished_at)
    values (${newId()}, ${allocation}, ${node}, ${task}, 'user_removed', true, '', now(), now())`.execute(db);
  await sql`insert into queued_launches (allocation_id, organization_id, project_id, queued_at, expires_at)
    values (${allocation}, ${organization}, ${project}, now(), now() + interval '1 hour')`.execute(db);
  await sql`insert into node_promises (id, node_id, holder_id, allocation_id, starts_at)
    values (${newId()}, ${node}, ${allocation}, ${allocation}, now())`.execute(db);
  await sql`insert into capacity_reservations (id, organization_id, project_id, sku, region, node_count, starts_at,
      ends_at, reason, created_by)
    select ${newId()}::uuid, ${organization}::uuid, ${project}::uuid, p.sku, p.region, 1, now(), now() + interval '1 hour',
      'r', ${user}::uuid from sku_prices p limit 1`.execute(db);
  await sql`insert into incidents (id, type, dedupe_key, severity, summary, target_type, target_id, runbook, opened_at,
      last_seen_at, deadline)
    values (${newId()}, 'allocation_machine_lost', ${allocation}, 'major', 's', 'allocation', ${allocation}, 'r', now(),
      now(), now())`.execute(db);
  await sql`insert into allocation_access_keys (allocation_id, public_key, sealed_private_key)
    values (${allocation}, 'p', ${secret})`.execute(db);
  await sql`insert into public_ingresses (id, organization_id, project_id, allocation_id, node_id, protocol,
      public_address, public_port, machine_port, created_by)
    select ${newId()}::uuid, ${organization}::uuid, ${project}::uuid, ${allocation}::uuid, ${node}::uuid, 'tcp',
      '203.0.113.1', 1 + count(*), 80, ${user}::uuid from public_ingresses`.execute(db);
  await sql`insert into allocation_user_data (allocation_id, sealed) values (${allocation}, ${secret})`.execute(
    db,
  );
  await sql`insert into terminal_tokens (token_hash, allocation_id, user_id, credential, correlation_id, expires_at)
    values (${secret}, ${allocation}, ${user}, '{}', ${correlation}, now() + interval '1 hour')`.execute(db);
  await sql`insert into app_tickets (ticket_hash, organization_id, label, user_id, credential, attempt, expires_at)
    values (${secret}, ${organization}, 'a', ${user}, '{}', ${'a'.repeat(43)}, now() + interval '1 hour')`.execute(
    db,
  );
  const served = newId();
  await sql`insert into app_addresses (label, app_instance_id, organization_id, project_id)
    values (${`app-${newId()}`}, ${served}, ${organization}, ${project})`.execute(db);
  await sql`insert into app_share_links (id, organization_id, app_instance_id, secret_hash, created_by, expires_at)
    values (${newId()}, ${organization}, ${served}, ${secret}, ${user}, now() + interval '1 hour')`.execute(
    db,
  );
  await sql`insert into app_request_counts (id, app_instance_id, organization_id, project_id, allocation_id, app, requests,
      counted_at)
    values (${newId()}, ${newId()}, ${organization}, ${project}, ${allocation}, 'a', 1, now())`.execute(db);
  const recording = newId();
  await sql`insert into terminal_recordings (id, organization_id, project_id, allocation_id, actor_id, started_at)
    values (${recording}, ${organization}, ${project}, ${allocation}, ${user}, now())`.execute(db);
  await sql`insert into terminal_recording_parts (recording_id, part, sealed)
    values (${recording}, 0, ${secret})`.execute(db);
  await sql`insert into webhooks (id, organization_id, project_id, url, sealed_secret, created_by)
    values (${webhook}, ${organization}, ${project}, 'https://example.test', ${secret}, ${user})`.execute(db);
  await sql`insert into webhook_deliveries (id, webhook_id, event_id, event_type, body)
    values (${delivery}, ${webhook}, ${newId()}, 'allocation.active', '{}')`.execute(db);
  await sql`insert into webhook_attempts (delivery_id, attempt, started_at, duration_ms)
    values (${delivery}, 1, now(), 1)`.execute(db);
  await sql`insert into allocation_overviews (allocation_id, organization_id, project_id, state, stage, status, message,
      event_position, projected_at)
    values (${allocation}, ${organization}, ${project}, 's', 's', 's', 'm', 1, now())`.execute(db);
  const posted = newId();
  await sql`with posted as (
      insert into ledger_transactions (id, organization_id, kind, currency, posting_key, reason, correlation_id)
      values (${posted}, ${organization}, 'credit', 'USD', 'k', 'r', ${correlation}) returning id)
    insert into ledger_entries (id, transaction_id, organization_id, currency, account, amount_micros)
    select gen_random_uuid(), id, ${organization}::uuid, 'USD', account, amount
    from posted, (values ('tenant_balance', 1), ('credits', -1)) as e (account, amount)`.execute(db);
  await sql`insert into allocation_outages (id, allocation_id, cause, served, began_at, ended_at)
    values (${newId()}, ${allocation}, 'host_silent', true, now(), now())`.execute(db);
  await sql`insert into allocation_meters (allocation_id, organization_id, project_id, sku, region, gpu_count, currency,
      per_hour_micros, started_at)
    select id, organization_id, project_id, sku, region, gpu_count, currency, 1, now() from allocations
    where id = ${allocation}`.execute(db);
  await sql`insert into usage_records (id, allocation_id, sequence, organization_id, project_id, sku, region, gpu_count,
      currency, per_hour_micros, from_second, to_second, window_from, window_to, billed_seconds, billed_before,
      amount_micros, reason, recorded_at)
    select ${newId()}, allocation_id, 1, organization_id, project_id, sku, region, gpu_count, currency, 1, 0, 10, now(),
      now(), 0, 0, 0, 'not served', now() from allocation_meters where allocation_id = ${allocation}`.execute(
    db,
  );
  await sql`insert into allocation_idleness (allocation_id, organization_id, seen_at)
    values (${allocation}, ${organization}, now())`.execute(db);
  await sql`insert into app_usage_records (id, producer, record_id, organization_id, project_id, app, dimension, quantity,
      occurred_at, amount_micros, not_charged_because, recorded_at)
    values (${newId()}, 'p', ${name}, ${organization}, ${project}, 'a', 'tokens', 1, now(), 0, 'it has no price', now())`.execute(
    db,
  );
  const holder = newId();
  const digest = `sha256:${holder.replaceAll('-', '').repeat(2)}`;
  await sql`insert into blobs (digest, bytes, backend, state) values (${digest}, 1, 'folder', 'stored')`.execute(
    db,
  );
  await sql`insert into blob_holders (id, organization_id, digest)
    values (${holder}, ${organization}, ${digest})`.execute(db);
  await sql`insert into blob_references (holder_id, subject_type, subject_id)
    values (${holder}, 't', ${newId()})`.execute(db);
  await sql`insert into project_secrets (id, organization_id, project_id, name, sealed_value, set_by, set_by_name)
    values (${newId()}, ${organization}, ${project}, 'S', ${secret}, ${user}, 'n')`.execute(db);
  const [instance, member] = [newId(), newId()];
  await sql`insert into app_manifests (slug, display_name) values ('a', 'n') on conflict do nothing`.execute(
    db,
  );
  await sql`insert into app_manifest_versions (slug, version, display_name, description, kind, artifact_kind,
      compatibility, runtime_profile, parameters, secrets, platform_access, cors_origins, published_by, published_by_name)
    values ('a', '1', 'n', '', 'job', 'launchable', '{}', '{}', '[]', '{}', '{}', '{}', ${user}, 'n')
    on conflict do nothing`.execute(db);
  await sql`insert into app_instances (id, organization_id, project_id, app_slug, app_version, kind, name,
      bound_capacity_shape, allocation_id, parameters, env, correlation_id, created_by, created_by_name)
    values (${instance}, ${organization}, ${project}, 'a', '1', 'job', 'n', 'gpu_slice', ${allocation}, '[]', '[]',
      ${correlation}, ${user}, 'n')`.execute(db);
  await sql`insert into app_instance_members (id, organization_id, instance_id, allocation_id, role, ports)
    values (${member}, ${organization}, ${instance}, ${allocation}, 'node', '{8080}')`.execute(db);
  await sql`insert into app_member_ports (allocation_id, port, member_id, organization_id)
    values (${allocation}, 8080, ${member}, ${organization})`.execute(db);
  await sql`insert into app_member_secrets (member_id, sealed_values) values (${member}, ${secret})`.execute(
    db,
  );
  await sql`insert into app_instance_events (id, organization_id, instance_id, event_type, message, payload, occurred_at)
    values (${newId()}, ${organization}, ${instance}, 'created', 'm', '{}', now())`.execute(db);
  await sql`insert into app_log_pieces (id, organization_id, member_id, first_byte, bytes, content)
    values (${newId()}, ${organization}, ${member}, 0, 1, 'x')`.execute(db);
  const [repository, manifest, upload] = [newId(), newId(), newId()];
  await sql`insert into registry_repositories (id, organization_id, project_id, name)
    values (${repository}, ${organization}, ${project}, 'r')`.execute(db);
  await sql`insert into registry_blobs (id, organization_id, repository_id, digest, bytes)
    values (${newId()}, ${organization}, ${repository}, ${digest}, 1)`.execute(db);
  await sql`insert into registry_manifests (id, organization_id, repository_id, digest, media_type, bytes, pushed_by,
      pushed_by_name)
    values (${manifest}, ${organization}, ${repository}, ${digest}, 'm', 1, ${user}, 'n')`.execute(db);
  await sql`insert into registry_manifest_blobs (organization_id, repository_id, manifest_id, digest)
    values (${organization}, ${repository}, ${manifest}, ${digest})`.execute(db);
  await sql`insert into registry_manifest_children (organization_id, repository_id, manifest_id, digest)
    values (${organization}, ${repository}, ${manifest}, ${digest})`.execute(db);
  await sql`insert into registry_tags (organization_id, repository_id, name, digest, moved_by, moved_by_name)
    values (${organization}, ${repository}, 't', ${digest}, ${user}, 'n')`.execute(db);
  await sql`insert into registry_uploads (id, organization_id, repository_id)
    values (${upload}, ${organization}, ${repository})`.execute(db);
  await sql`insert into registry_upload_chunks (organization_id, upload_id, begins_at, bytes, digest)
    values (${organization}, ${upload}, 0, 1, ${digest})`.execute(db);
  const appPrice = newId();
  await sql`insert into app_usage_prices (id, app, dimension, currency, per_block_micros, block, effective_from)
    values (${appPrice}, 'a', 'tokens', 'USD', 1, 1, clock_timestamp())`.execute(db);
  await sql`insert into app_usage_meters (id, organization_id, price_id)
    values (${newId()}, ${organization}, ${appPrice})`.execute(db);
  await sql`insert into billing_standings (organization_id, currency, standing, since)
    values (${organization}, 'USD', 'good', now())`.execute(db);
  const budget = newId();
  await sql`insert into budgets (id, organization_id, scope_type, scope_id, currency, monthly_micros, thresholds, at_cap)
    values (${budget}, ${organization}, 'tenant', ${organization}, 'USD', 1, '{80}', 'notify')`.execute(db);
  await sql`insert into budget_notices (budget_id, month, percent, spent_micros, noticed_at)
    values (${budget}, now(), 80, 1, now())`.execute(db);
  const [payment, method] = [newId(), newId()];
  await sql`insert into payment_methods (id, organization_id, provider, provider_ref, label, created_at)
    values (${method}, ${organization}, 'test', 'r', 'l', now())`.execute(db);
  await sql`insert into payments (id, organization_id, provider, purpose, state, currency, amount_micros,
      received_micros, payment_ref, ledger_transaction_id, correlation_id, created_at, settled_at)
    values (${payment}, ${organization}, 'manual', 'received', 'succeeded', 'USD', 1, 1, 'r', ${posted}, ${correlation},
      now(), now())`.execute(db);
  await sql`insert into payment_refunds (id, organization_id, payment_id, state, amount_micros, reason,
      ledger_transaction_id, created_at)
    values (${newId()}, ${organization}, ${payment}, 'succeeded', 1, 'r', ${posted}, now())`.execute(db);
  await sql`insert into payment_disputes (id, organization_id, payment_id, provider_ref, state, amount_micros, reason,
      withdrawn_transaction_id, opened_at)
    values (${newId()}, ${organization}, ${payment}, ${newId()}, 'open', 1, 'r', ${posted}, now())`.execute(
    db,
  );
  await sql`insert into auto_top_ups (organization_id, enabled, payment_method_id, currency, threshold_micros,
      amount_micros, monthly_cap_micros, updated_at)
    values (${organization}, true, ${method}, 'USD', 1, 1, 1, now())`.execute(db);
  const statement = newId();
  await db.transaction().execute(async (tx) => {
    await sql`insert into statement_transactions (transaction_id, statement_id, organization_id, currency)
      values (${posted}, ${statement}, ${organization}, 'USD')`.execute(tx);
    await sql`insert into statements (id, organization_id, currency, month, number, opening_micros, closing_micros,
        document, closed_at)
      values (${statement}, ${organization}, 'USD', '2026-01-01', 'n', 0, 1, '{}', now())`.execute(tx);
  });
  await sql`insert into notifications (id, user_id, about_organization_id, event_id, event_type, kind, severity, title, body, link)
    values (${newId()}, ${user}, ${organization}, ${newId()}, 'e', 'k', 'info', 't', 'b', '/')`.execute(db);
  await sql`insert into notification_preferences (user_id, kind, channel, enabled)
    values (${user}, 'low_balance', 'email', true)`.execute(db);
  await sql`insert into notification_emails (id, user_id, event_id, recipient, subject, text_body, html_body)
    values (${newId()}, ${user}, ${newId()}, 'r', 's', 't', 'h')`.execute(db);
  const identityProvider = newId();
  await sql`insert into identity_providers (id, organization_id, name, issuer, client_id, sealed_client_secret, created_by)
    values (${identityProvider}, ${organization}, 'n', ${`https://${name}.test`}, 'c', ${secret}, ${user})`.execute(
    db,
  );
  await sql`insert into identity_provider_domains (id, organization_id, identity_provider_id, domain, token)
    values (${newId()}, ${organization}, ${identityProvider}, ${`${name.toLowerCase()}.test`}, 't')`.execute(
    db,
  );
  await sql`insert into pending_logins (state_hash, code_verifier, nonce, return_to, identity_provider_id, expires_at)
    values (${secret}, 'v', 'n', '/', ${identityProvider}, now() + interval '1 hour')`.execute(db);
  await sql`insert into idempotency_keys (caller_id, key, operation, request_hash)
    values (${user}, 'k', 'o', ${secret})`.execute(db);
  await sql`insert into audit_logs (id, actor_user_id, actor_role, action, target_type, target_id, result,
      correlation_id, organization_id)
    values (${newId()}, ${user}, 'r', 'a', 't', 'i', 'succeeded', ${correlation}, ${organization})`.execute(
    db,
  );
  await sql`insert into policy_values (key, organization_id, value)
    values ('terminal.token_ttl_seconds', ${organization}, '60')`.execute(db);
  await sql`insert into policy_changes (id, key, organization_id, after, actor_id, actor_role, correlation_id)
    values (${newId()}, 'terminal.token_ttl_seconds', ${organization}, '60', ${user}, 'r', ${correlation})`.execute(
    db,
  );
  await sql`select emit_event(${newId()}, 'allocation.active', ${correlation}, ${organization}, ${allocation}, '{}')`.execute(
    db,
  );
  return {
    organizationId: organization,
    userId: user,
    allocationId: allocation,
    nodeId: node,
    webhookId: webhook,
  };
}
