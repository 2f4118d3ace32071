import { useInfiniteQuery } from '@tanstack/react-query';
import { Fingerprint } from 'lucide-react';
import { deleteProvider, enableProvider, providersQuery } from '../api/organization/identity-providers.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationDisabledReason } from '../api/me.ts';
import type { IdentityProvider } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Button } from '../ui/actions/button.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Code, Fact, Facts } from '../ui/values/facts.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Panel } from '../ui/panel.tsx';
import { ShowMore } from '../ui/tables/show-more.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { NewProvider } from './new-provider.tsx';
import { ProviderDomains } from './provider-domains.tsx';

/** The organization's own ways to sign in. */
export function IdentityProvidersPanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(providersQuery(organizationId));
  return (
    <Panel title="Identity providers" flush aside={<NewProvider organizationId={organizationId} />}>
      <QueryBoundary query={query} loading={<Skeleton label="Loading identity providers" rows={2} />}>
        {(providers) =>
          providers.length === 0 ? (
            <EmptyState icon={Fingerprint} title="Members sign in with the platform's provider">
              Add your own OpenID provider. Users of its verified domains sign in there.
            </EmptyState>
          ) : (
            <>
              {providers.map((provider) => (
                <Provider key={provider.id} provider={provider} />
              ))}
              <ShowMore query={query} />
            </>
          )
        }
      </QueryBoundary>
    </Panel>
  );
}

function Provider({ provider }: { provider: IdentityProvider }) {
  const { id, name, issuer, enabled, organization_id: organizationId } = provider;
  const refusal = useOrganizationDisabledReason(organizationId, 'identity_provider.manage');
  const refreshes = [organizationKeys.providers(organizationId)];
  const enable = useRefreshingMutation({
    mutationFn: () => enableProvider({ id, enabled: !enabled }),
    refreshes,
  });
  const remove = useRefreshingMutation({ mutationFn: () => deleteProvider(id), refreshes });
  return (
    <section aria-label={name} className="flex flex-col gap-3 border-b border-line p-4 last:border-0">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="flex items-center gap-2 text-sm font-semibold">
          {name}
          <Badge tone={enabled ? 'success' : 'neutral'}>{enabled ? 'Enabled' : 'Disabled'}</Badge>
        </h3>
        <span className="flex gap-2">
          {enabled ? (
            <ConfirmButton
              label="Disable"
              variant="secondary"
              title={`Disable ${name}?`}
              confirmLabel="Disable"
              disabledReason={refusal}
              act={enable}
            >
              Everyone signed in through it is signed out.
            </ConfirmButton>
          ) : (
            <Button
              size="sm"
              disabledReason={refusal}
              busy={enable.isPending}
              onClick={() => enable.mutate()}
            >
              Enable
            </Button>
          )}
          <ConfirmButton
            label="Delete"
            title={`Delete ${name}?`}
            confirmLabel="Delete"
            disabledReason={refusal}
            act={remove}
          >
            The provider and its domains are deleted. Everyone signed in through it is signed out and can no
            longer sign in.
          </ConfirmButton>
        </span>
      </div>
      <Facts>
        <Fact name="Issuer" copy={issuer}>
          <Code>{issuer}</Code>
        </Fact>
        <Fact name="Redirect URI to register" copy={provider.redirect_uri}>
          <Code>{provider.redirect_uri}</Code>
        </Fact>
      </Facts>
      <ProviderDomains providerId={id} refusal={refusal} />
    </section>
  );
}
