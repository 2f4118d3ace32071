-- Who waits for money is told so: adding quota would not help.
alter table queued_launches drop constraint queued_launches_reason_check;
alter table queued_launches add constraint queued_launches_reason_check
  check (reason in ('not_looked_at', 'capacity', 'quota', 'money', 'closed'));
