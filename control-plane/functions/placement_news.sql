-- plan: by index
-- Nodes changed by transactions that the snapshot `since` does not include and `known` does not name: their
-- states and leases as bits of slots, and whether anything else changed. One row without a node if there are
-- none. Changes of this transaction are omitted: it may still roll back, and they count as new until a
-- snapshot includes them.
create or replace function placement_news(since pg_snapshot, known xid8[], suspects uuid[])
  returns table (snapshot text, node_id uuid, facts boolean, available integer, unhealthy integer, leases json)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select seen.snapshot::text, n.node_id, n.facts, s.available, s.unhealthy, l.leases
    from (select pg_current_snapshot() as snapshot) as seen
      left join lateral (
        select news.node_id, bool_or(news.facts) as facts from (
          select p.node_id, p.facts from placement_changes p
          where p.xid >= pg_snapshot_xmin(since) and not pg_visible_in_snapshot(p.xid, since)
            and p.xid <> all (known) and p.xid is distinct from pg_current_xact_id_if_assigned()
          union all select suspect, true from unnest(suspects) as suspect
        ) as news group by 1
      ) as n on true
      left join lateral (
        select coalesce(bit_or(1 << s.slot_index) filter (where s.state = 'available'), 0) as available,
          coalesce(bit_or(1 << s.slot_index) filter (where s.health_state = 'unhealthy'), 0) as unhealthy
        from node_resource_slots s where s.node_id = n.node_id
      ) as s on true
      left join lateral (
        select json_agg(json_build_array(lease.slots, lease.ends_at)) as leases from (
          select bit_or(1 << e.cell) as slots, extract(epoch from max(c.ends_at)) * 1000 as ends_at
          from claim_cells e join allocation_resource_claims c on c.id = e.claim_id
          where e.node_id = n.node_id
          group by c.allocation_id
        ) as lease
      ) as l on true;
end $$;
