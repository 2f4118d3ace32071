import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { addDomain, providerDomainsQuery, verifyDomain } from '../api/organization/identity-providers.ts';
import { organizationKeys } from '../api/query-keys.ts';
import type { IdentityProviderDomain } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Button } from '../ui/actions/button.tsx';
import { CopyLine } from '../ui/actions/copy-line.tsx';
import { Field } from '../ui/forms/field.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { ProblemNotice } from '../ui/feedback/problem-notice.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';

interface ProviderDomainsProps {
  providerId: string;
  refusal: string | null;
}

/** E-mail domains whose users sign in at the provider, once a TXT record proves them. */
export function ProviderDomains({ providerId, refusal }: ProviderDomainsProps) {
  const query = useInfiniteQuery(providerDomainsQuery(providerId));
  const [domain, setDomain] = useState('');
  const add = useRefreshingMutation({
    mutationFn: addDomain,
    refreshes: [organizationKeys.providerDomains(providerId)],
    onSuccess: () => setDomain(''),
  });
  return (
    <div className="flex flex-col gap-3">
      <QueryBoundary query={query} loading={<Skeleton label="Loading domains" rows={1} />}>
        {(domains) => (
          <ul className="flex flex-col gap-3">
            {domains.map((one) => (
              <Domain key={one.id} providerId={providerId} domain={one} refusal={refusal} />
            ))}
          </ul>
        )}
      </QueryBoundary>
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (!refusal && domain.trim()) add.mutate({ id: providerId, domain: domain.trim() });
        }}
      >
        <div className="w-64">
          <Field
            label="E-mail domain"
            value={domain}
            onChange={setDomain}
            maxLength={253}
            placeholder="acme.test"
          />
        </div>
        <Button
          type="submit"
          className="h-9!"
          busy={add.isPending}
          disabledReason={refusal ?? (domain.trim() ? null : 'Enter a domain.')}
        >
          Claim
        </Button>
      </form>
      {add.error && <ProblemNotice error={add.error} />}
    </div>
  );
}

interface DomainProps extends ProviderDomainsProps {
  domain: IdentityProviderDomain;
}

function Domain({ providerId, domain, refusal }: DomainProps) {
  const verify = useRefreshingMutation({
    mutationFn: () => verifyDomain({ id: providerId, domainId: domain.id }),
    refreshes: [organizationKeys.providerDomains(providerId)],
  });
  return (
    <li className="flex flex-col gap-2 text-sm">
      <span className="flex items-center gap-2">
        {domain.domain}
        <Badge tone={domain.verified_at ? 'success' : 'warn'}>
          {domain.verified_at ? 'Verified' : 'Not verified'}
        </Badge>
      </span>
      {!domain.verified_at && (
        <>
          <CopyLine label="TXT record" value={`${domain.record_name} TXT "${domain.record_value}"`} />
          <span>
            <Button
              size="sm"
              disabledReason={refusal}
              busy={verify.isPending}
              onClick={() => verify.mutate()}
            >
              Verify
            </Button>
          </span>
          {verify.error && <ProblemNotice error={verify.error} />}
        </>
      )}
    </li>
  );
}
