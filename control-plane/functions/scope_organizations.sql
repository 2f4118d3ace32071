-- Tenants whose rows the transaction may see; none if unset.
create or replace function scope_organizations() returns uuid[] language sql stable parallel safe
  return coalesce(nullif(current_setting('app.organization_ids', true), '')::uuid[], '{}');
