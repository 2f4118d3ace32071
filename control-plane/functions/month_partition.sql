-- Audit rows and events live in a table per month (UTC). Retention drops whole months: nothing is ever deleted
-- row by row, so append-only holds without exception.
create or replace function month_partition(parent text, month timestamptz) returns text language sql stable
  return parent || to_char(month at time zone 'UTC', '_YYYY_MM');
