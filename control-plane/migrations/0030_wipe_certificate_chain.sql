-- A wipe record becomes a certificate when the platform signs it; each builds on the one before it.

create table certificate_keys (
  id uuid primary key,
  -- Begin of the SHA-256 of the public key.
  key_id text not null unique,
  public_pem text not null,
  -- Destroyed when another key takes over.
  sealed_private_key bytea,
  created_at timestamptz not null default clock_timestamp(),
  retired_at timestamptz,
  check ((retired_at is null) = (sealed_private_key is not null))
);
create unique index certificate_keys_one_signs on certificate_keys ((true)) where retired_at is null;

alter table wipe_certificates add tools jsonb not null default '[]';

create table issued_certificates (
  sequence bigint primary key check (sequence > 0),
  wipe_certificate_id uuid not null unique references wipe_certificates,
  -- Exactly what was signed, and the SHA-256 of its canonical form.
  statement jsonb not null,
  hash text not null check (hash ~ '^[0-9a-f]{64}$'),
  key_id text not null references certificate_keys (key_id),
  signature text not null,
  issued_at timestamptz not null
);
create trigger issued_certificates_append_only before update or delete or truncate on issued_certificates
  for each statement execute function forbid_change();

grant select (id, key_id, public_pem, created_at, retired_at) on certificate_keys to gpuaas_tenant;
grant select (id, key_id, public_pem, created_at, retired_at), insert, update (retired_at, sealed_private_key)
  on certificate_keys to gpuaas_operator;
grant select on certificate_keys to gpuaas_worker;
grant select on issued_certificates to gpuaas_tenant, gpuaas_operator;
grant select, insert on issued_certificates to gpuaas_worker;

alter table issued_certificates enable row level security;
create policy own on issued_certificates for select to gpuaas_tenant
  using (exists (select from wipe_certificates w where w.id = wipe_certificate_id));
create policy every on issued_certificates to gpuaas_operator, gpuaas_worker using (true);
