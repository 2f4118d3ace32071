-- plan: by index
-- Allocations of one batch mostly name the same rows.
create or replace function require_known_references() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  closed uuid;
begin
  -- A transaction that closes a project holds its row, so this blocks until it ends; the next statement sees
  -- the result.
  perform from projects p where p.id in (select project_id from changed) order by p.id for key share;
  select c.project_id into closed from (select distinct organization_id, project_id from changed) c where not exists (
    select from projects p
    where p.id = c.project_id and p.organization_id = c.organization_id and p.deleted_at is null) limit 1;
  if found then
    raise exception 'project % is closed', closed using errcode = 'foreign_key_violation';
  end if;
  -- Separate look-ups: behind an `or`, `exists` would read the whole table into a hash.
  if exists (select from (select distinct sku, image, region, price_id from changed) c where
      (select s.sku from sku_catalog s where s.sku = c.sku) is null
      or (select i.image from images i where i.image = c.image) is null
      or (select r.region from regions r where r.region = c.region) is null
      or (select p.id from sku_prices p where p.id = c.price_id) is null
    ) or exists (select from (select distinct node_id, owner_user_id from changed) c where
      (c.node_id is not null and (select n.id from nodes n where n.id = c.node_id) is null)
      or (c.owner_user_id is not null and (select u.id from users u where u.id = c.owner_user_id) is null)
  ) then
    raise exception 'an allocation names something that does not exist' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
