-- Launches of many callers commit together, with the idempotency keys and replies of their requests. Each
-- request was checked under its caller's own role; the role that reserves cannot read keys.
create or replace function keep_answers(answers json) returns void language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  insert into idempotency_keys (caller_id, key, operation, request_hash, response_status, response_body, response_location)
    select caller_id, key, operation, decode(request_hash, 'hex'), response_status, response_body, response_location
    from json_to_recordset(answers) as a (caller_id uuid, key text, operation text, request_hash text,
      response_status integer, response_body text, response_location text)
    order by caller_id, key;
end $$;
