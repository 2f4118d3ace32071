-- Whether a lease from `at` until `ends_at` respects a promise of its node. Null means without an end. The rule of
-- `respectsHolds` in domains/placement/filters/not-held.ts; a test compares the two.
create or replace function respects_promise(holder uuid, promised_from timestamptz, promised_until timestamptz,
    holders uuid[], at timestamptz, ends_at timestamptz)
  returns boolean language sql immutable
  return holder = any (holders) or promised_from >= coalesce(ends_at, 'infinity')
    or coalesce(promised_until, 'infinity') <= at;
