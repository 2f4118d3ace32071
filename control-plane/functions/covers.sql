-- The rule of `covers` in domains/billing/funds/covers.ts; a test compares the two.
create or replace function covers(available_micros bigint, per_hour_micros bigint, seconds integer, kept_per_hour_micros bigint,
    kept_seconds integer)
  returns boolean language sql immutable
  return available_micros >= div(per_hour_micros::numeric * seconds, 3600)
    + div(kept_per_hour_micros::numeric * kept_seconds, 3600);
