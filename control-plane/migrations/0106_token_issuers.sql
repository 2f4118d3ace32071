-- A token of a service account knows the person who issued it. One that the account renewed itself keeps person and time
-- of the token before it, so that renewing ends some day, and ends with the person's access.
alter table service_account_tokens
  add column issued_by uuid references users,
  add column issued_at timestamptz not null default now(),
  -- When people were asked to issue the next one.
  add column rotation_notice_at timestamptz;

update service_account_tokens t set issued_at = t.created_at, issued_by = u.id
from service_accounts s left join users u on u.id = coalesce(s.owner_user_id, s.created_by)
where s.id = t.service_account_id;

create index service_account_tokens_issuer on service_account_tokens (issued_by) where revoked_at is null;
create index service_account_tokens_unnoticed on service_account_tokens (id)
  where revoked_at is null and rotation_notice_at is null;

grant select (issued_by, issued_at, rotation_notice_at) on service_account_tokens to gpuaas_tenant;
grant select (id, organization_id, service_account_id, expires_at, revoked_at, issued_at, rotation_notice_at),
  update (rotation_notice_at) on service_account_tokens to gpuaas_worker;
create policy live on service_account_tokens to gpuaas_worker using (revoked_at is null);
grant select (id, organization_id, project_id, name, owner_user_id, state) on service_accounts to gpuaas_worker;
create policy every_read on service_accounts for select to gpuaas_worker using (true);
