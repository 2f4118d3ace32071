-- plan: by index
-- All rows of a transaction have one position.
create or replace function record_audits(entries json) returns void language plpgsql as $$
declare
  position bigint := audit_position();
begin
  insert into audit_logs (id, xid, actor_user_id, actor_kind, actor_role, credential_id, ip, action, target_type,
      target_id, result, correlation_id, organization_id, before, after, detail)
    select id, position, actor_user_id, actor_kind, actor_role, credential_id, ip, action, target_type,
      target_id, result, correlation_id, organization_id, before, after, detail
    from json_to_recordset(entries) as e (id uuid, actor_user_id uuid, actor_kind text, actor_role text,
      credential_id text, ip inet, action text, target_type text, target_id text, result text, correlation_id uuid,
      organization_id uuid, before jsonb, after jsonb, detail jsonb);
end $$;
