create or replace function scope_node() returns uuid language sql stable parallel safe
  return nullif(current_setting('app.node_id', true), '')::uuid;
