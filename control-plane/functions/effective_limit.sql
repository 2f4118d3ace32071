-- The platform's quota, or the policy's in its place; the tenant's where it is smaller, as in
-- domains/quotas/effective-limit.ts.
create or replace function effective_limit(platform bigint, policy bigint, tenant bigint) returns bigint
  language sql immutable return least(coalesce(platform, policy), tenant);
