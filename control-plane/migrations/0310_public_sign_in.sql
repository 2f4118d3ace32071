-- A sign-in that left for Google or GitHub; null for the platform's own provider and for a tenant's.
alter table pending_logins
  add column public_provider text check (public_provider in ('google', 'github')),
  add constraint one_provider check (identity_provider_id is null or public_provider is null);
