-- A signed-in browser is a sign-in; the word session is free for other things. The cookie has another name as well, so
-- browsers sign in again, and nothing refers to the rows from before.
delete from sessions;
delete from terminal_tokens where credential ->> 'kind' = 'session';

alter table sessions rename to sign_ins;
alter table sign_ins rename constraint sessions_pkey to sign_ins_pkey;
alter table sign_ins rename constraint sessions_id_key to sign_ins_id_key;
alter table sign_ins rename constraint sessions_ip_check to sign_ins_ip_check;
alter table sign_ins rename constraint sessions_user_agent_check to sign_ins_user_agent_check;
alter table sign_ins rename constraint sessions_user_id_fkey to sign_ins_user_id_fkey;
alter index sessions_user rename to sign_ins_user;

update policy_values set key = 'auth.sign_in_idle_seconds' where key = 'auth.session_idle_seconds';
update policy_values set key = 'auth.sign_in_absolute_seconds' where key = 'auth.session_absolute_seconds';
