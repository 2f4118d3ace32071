-- A CA that vouches for hosts may be run elsewhere: its key never comes here.

alter table node_authorities add kind text not null default 'in_process' check (kind in ('in_process', 'step_ca'));
alter table node_authorities drop constraint node_authorities_check;
alter table node_authorities add constraint node_authorities_key
  check ((kind = 'in_process' and state <> 'retired') = (sealed_private_key is not null));
grant select (kind) on node_authorities to gpuaas_operator, gpuaas_worker;
