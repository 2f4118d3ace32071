-- What has expired is deleted by a tick, and the cursor of a relay that is not used any more by whoever starts
-- without one.
grant delete on event_consumers to gpuaas_relay;

grant select (expires_at), delete on sessions, pending_logins to gpuaas_worker;
alter table sessions enable row level security;
create policy every on sessions to gpuaas_auth using (true);
create policy expired on sessions to gpuaas_worker using (expires_at < now());
alter table pending_logins enable row level security;
create policy every on pending_logins to gpuaas_auth using (true);
create policy expired on pending_logins to gpuaas_worker using (expires_at < now());
