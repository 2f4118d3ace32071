-- Whether people were told of the standing: money that runs out while nothing runs troubles nobody yet.
alter table billing_standings add column told_at timestamptz;
update billing_standings set told_at = since where standing in ('low', 'exhausted');
