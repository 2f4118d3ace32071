import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { addDomain, providerDomainsQuery, verifyDomain } from '../api/identity-providers.ts';
import { organizationKeys } from '../api/query-keys.ts';
import type { IdentityProviderDomain } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CopyLine } from '../ui/copy-line.tsx';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

interface ProviderDomainsProps {
  providerId: string;
  refusal: string | null;
}

/** The e-mail domains whose people are sent to the provider, once a TXT record proves them. */
export function ProviderDomains({ providerId, refusal }: ProviderDomainsProps) {
  const query = useInfiniteQuery(providerDomainsQuery(providerId));
  const [domain, setDomain] = useState('');
  const add = useChange({
    mutationFn: addDomain,
    refreshes: [organizationKeys.providerDomains(providerId)],
    onSuccess: () => setDomain(''),
  });
  return (
    <div className="flex flex-col gap-3">
      <Loaded query={query} loading={<Skeleton label="Loading domains" rows={1} />}>
        {(domains) => (
          <ul className="flex flex-col gap-3">
            {domains.map((one) => (
              <Domain key={one.id} providerId={providerId} domain={one} refusal={refusal} />
            ))}
          </ul>
        )}
      </Loaded>
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
          disabledReason={refusal ?? (domain.trim() ? null : 'Name the domain.')}
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
  const verify = useChange({
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
              Look for the record
            </Button>
          </span>
          {verify.error && <ProblemNotice error={verify.error} />}
        </>
      )}
    </li>
  );
}
