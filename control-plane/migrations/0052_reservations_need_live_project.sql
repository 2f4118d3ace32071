-- A project that is closed keeps no nodes: whoever reserves for it waits for whoever closes it, and is refused.
create trigger capacity_reservations_need_live_project before insert on capacity_reservations
  for each row execute function require_live_project();
