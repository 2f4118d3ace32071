-- Whether the identity provider says that the address is the person's. Not known of anybody from before; it is learned at
-- the next sign-in. Until then the address matches no invitation.
alter table users add column email_verified boolean not null default false;
grant update (email_verified) on users to gpuaas_auth;
