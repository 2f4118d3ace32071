-- Counters that launches of one person in one project count for.
create or replace function quota_counters(project uuid, launcher uuid, owner uuid, gpu_model text, currency text, launches bigint,
    gpus bigint, per_hour bigint)
  returns table (holder_type text, holder_id uuid, measure text, unit text, amount bigint) language sql immutable as $$
  select holder.*, counted.*
  from (values ('project', project), ('user', launcher), ('user', nullif(owner, launcher))) as holder (holder_type, holder_id)
    cross join (values ('allocations', '', launches), ('gpus', gpu_model, gpus), ('spend_per_hour', currency, per_hour))
      as counted (measure, unit, amount)
  where holder.holder_id is not null
$$;
