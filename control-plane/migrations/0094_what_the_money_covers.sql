-- Money covers a launch together with everything the tenant runs, starts and has reserved. See
-- docs/decisions/0008-held-money.md.

-- Reservations ----------------------------------------------------------------------------------------------------

alter table capacity_reservations
  add gpu_count integer not null default 0 check (gpu_count >= 0),
  -- What its GPUs cost an hour; money for some hours of it is held. Zero where operators reserve, and for earlier ones.
  add currency text,
  add held_per_hour_micros bigint not null default 0 check (held_per_hour_micros >= 0),
  -- Ends when it is not used or its money is gone. Operators' do not.
  add lapses boolean not null default false,
  add lapse_reason text check (lapse_reason in ('unused', 'unfunded')),
  -- Since when too few of its GPUs are used; null while enough are, or before its time.
  add unused_since timestamptz,
  add constraint lapsed_reservation_is_over check (lapse_reason is null or cancelled_at is not null),
  add constraint held_money_has_currency check (held_per_hour_micros = 0 or currency is not null);
create index capacity_reservations_live on capacity_reservations (organization_id) where cancelled_at is null;
grant update (cancelled_at, lapse_reason, unused_since) on capacity_reservations to gpuaas_worker;

-- Rates -----------------------------------------------------------------------------------------------------------

-- One look-up for everything that costs money now or soon, in place of that for launches on their way alone.
create index allocations_committed on allocations (organization_id) where state in ('reserved', 'provisioning', 'active');
drop index allocations_on_their_way;
-- Whether somebody ever paid is asked at every launch.
create index ledger_transactions_paid on ledger_transactions (organization_id) where kind in ('payment', 'credit');

-- Both answer with more columns.
drop function hold_funds(uuid[]);
drop function tenant_funds(uuid, timestamptz);
