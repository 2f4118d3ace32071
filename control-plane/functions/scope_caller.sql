create or replace function scope_caller() returns uuid language sql stable parallel safe
  return nullif(current_setting('app.caller_id', true), '')::uuid;
