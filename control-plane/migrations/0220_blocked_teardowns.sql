-- A teardown that the tenant keeps open calls no operator, however the instance ended.
alter table app_instance_members add column teardown_blocked_by text;
comment on column app_instance_members.teardown_blocked_by is
  'Why the last attempt to prove the teardown could not work in the machine, as a reason of the closed list.';
grant update (teardown_blocked_by) on app_instance_members to gpuaas_app_runtime, gpuaas_worker;
