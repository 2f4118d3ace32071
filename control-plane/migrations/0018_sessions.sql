-- A browser session is something its owner can see and end.
alter table sessions
  add column id uuid not null default gen_random_uuid() unique,
  add column last_used_at timestamptz not null default now(),
  add column user_agent text not null default '' check (length(user_agent) <= 300),
  add column ip text not null default '' check (length(ip) <= 45),
  -- For signing out at the provider too: who it was, and the ID token, sealed with the platform key.
  add column issuer text,
  add column sealed_id_token bytea;
create index sessions_user on sessions (user_id, id desc);

grant update (last_used_at, user_agent, ip) on sessions to gpuaas_auth;

-- Sign-ins that worked and those that were denied.
grant insert on audit_logs to gpuaas_auth;
create policy sign_in on audit_logs for insert to gpuaas_auth with check (true);
