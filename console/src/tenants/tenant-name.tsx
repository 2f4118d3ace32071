import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { tenantsQuery } from '../api/organization/tenants.ts';
import { shortId } from '../format/humanize.ts';

/** A tenant by its name, which leads to its page. */
export function TenantName({ id }: { id: string }) {
  const tenant = useInfiniteQuery(tenantsQuery).data?.find((known) => known.id === id);
  return (
    <Link
      to="/operator/tenants/$tenantId"
      params={{ tenantId: id }}
      className="relative z-10 text-ink-muted hover:text-accent-text hover:underline"
    >
      {tenant?.name ?? <code className="font-mono">{shortId(id)}</code>}
    </Link>
  );
}
