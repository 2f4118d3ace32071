-- Whether the tenant's identity provider may speak for the address: it is enabled and the tenant proved the domain.
create or replace function vouches_for_address(organization uuid, issuer text, address text) returns boolean
  language sql stable as $$
  select exists (select from identity_providers p join identity_provider_domains d on d.identity_provider_id = p.id
    where p.organization_id = organization and p.issuer = vouches_for_address.issuer and p.enabled
      and d.verified_at is not null and d.domain = lower(split_part(address, '@', -1)))
$$;
revoke execute on function vouches_for_address(uuid, text, text) from public;
grant execute on function vouches_for_address(uuid, text, text) to gpuaas_auth;
