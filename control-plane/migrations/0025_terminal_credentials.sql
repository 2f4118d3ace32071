-- A terminal lasts no longer than the credential its token was got with, so the token says which one that was.
-- Tokens live for minutes: those from before are simply asked for again.
delete from terminal_tokens;
alter table terminal_tokens add column credential jsonb not null;
grant select (project_id) on allocations to gpuaas_gateway;
