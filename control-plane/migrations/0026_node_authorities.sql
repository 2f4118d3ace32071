-- CAs that vouch for hosts. One signs; those before it stay trusted until nobody depends on them.

create table node_authorities (
  id uuid primary key,
  certificate_pem text not null,
  -- Destroyed when the CA is retired.
  sealed_private_key bytea,
  state text not null check (state in ('signing', 'trusted', 'retired')),
  created_at timestamptz not null default now(),
  retired_at timestamptz,
  check ((state = 'retired') = (sealed_private_key is null)),
  check ((state = 'retired') = (retired_at is not null))
);
create unique index node_authorities_one_signs on node_authorities (state) where state = 'signing';

-- Ids grow with time; that of the CA there was before comes first.
insert into node_authorities (id, certificate_pem, sealed_private_key, state, created_at)
select '00000000-0000-7000-8000-000000000000', public_pem, sealed_private_key, 'signing', created_at from platform_keys where name = 'ca';
delete from platform_keys where name = 'ca';

alter table node_certificates add authority_id uuid references node_authorities;
update node_certificates set authority_id = (select id from node_authorities);
alter table node_certificates alter authority_id set not null;
create index node_certificates_by_authority on node_certificates (authority_id, expires_at);

-- The CA whose fingerprint the token carries.
alter table node_enrolments add authority_id uuid references node_authorities;
update node_enrolments set authority_id = (select id from node_authorities);
alter table node_enrolments alter authority_id set not null;

grant select on node_authorities to gpuaas_node;
grant select (id, certificate_pem, state, created_at, retired_at), insert,
  update (state, retired_at, sealed_private_key) on node_authorities to gpuaas_operator;
grant select (id, certificate_pem, state, created_at, retired_at),
  update (state, retired_at, sealed_private_key) on node_authorities to gpuaas_worker;
grant select (node_id, authority_id, expires_at, revoked_at) on node_certificates to gpuaas_worker;
grant select (authority_id, expires_at, used_at, revoked_at) on node_enrolments to gpuaas_worker;
