-- When an operator last ended all sign-ins of a person. Access tokens of the identity provider that are older than this
-- are refused; the platform keeps no list of them.
alter table users add column sign_ins_ended_at timestamptz;
grant update (sign_ins_ended_at) on users to gpuaas_auth;
create index users_email on users (lower(email) text_pattern_ops);
