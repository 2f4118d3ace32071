import { useInfiniteQuery } from '@tanstack/react-query';
import { Fingerprint } from 'lucide-react';
import { deleteProvider, enableProvider, providersQuery } from '../api/identity-providers.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationRefusal } from '../api/session.ts';
import type { IdentityProvider } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Code, Fact, Facts } from '../ui/facts.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { ShowMore } from '../ui/show-more.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { NewProvider } from './new-provider.tsx';
import { ProviderDomains } from './provider-domains.tsx';

/** The organization's own ways to sign in. */
export function IdentityProvidersPanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(providersQuery(organizationId));
  return (
    <Panel title="Identity providers" flush aside={<NewProvider organizationId={organizationId} />}>
      <Loaded query={query} loading={<Skeleton label="Loading identity providers" rows={2} />}>
        {(providers) =>
          providers.length === 0 ? (
            <EmptyState icon={Fingerprint} title="People sign in with the platform's provider">
              Register an OpenID provider of your own, and people of its verified domains are sent to it.
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
      </Loaded>
    </Panel>
  );
}

function Provider({ provider }: { provider: IdentityProvider }) {
  const { id, name, issuer, enabled, organization_id: organizationId } = provider;
  const refusal = useOrganizationRefusal(organizationId, 'identity_provider.manage');
  const refreshes = [organizationKeys.providers(organizationId)];
  const enable = useChange({ mutationFn: () => enableProvider({ id, enabled: !enabled }), refreshes });
  const remove = useChange({ mutationFn: () => deleteProvider(id), refreshes });
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
              Everybody who signed in through it is signed out.
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
            title={`Forget ${name}?`}
            confirmLabel="Delete"
            disabledReason={refusal}
            act={remove}
          >
            It and its domains are forgotten. Everybody who signed in through it is signed out and cannot sign
            in again.
          </ConfirmButton>
        </span>
      </div>
      <Facts>
        <Fact name="Issuer" copy={issuer}>
          <Code>{issuer}</Code>
        </Fact>
        <Fact name="Register there" copy={provider.redirect_uri}>
          <Code>{provider.redirect_uri}</Code>
        </Fact>
      </Facts>
      <ProviderDomains providerId={id} refusal={refusal} />
    </section>
  );
}
