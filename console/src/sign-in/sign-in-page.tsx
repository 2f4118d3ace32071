import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { authConfigurationQuery } from '../api/account/auth-configuration.ts';
import { signInPath, type SignInChoice } from '../api/me.ts';
import { Logo } from '../shell/logo.tsx';
import { Button } from '../ui/actions/button.tsx';
import { buttonClass } from '../ui/actions/button-class.ts';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Field } from '../ui/forms/field.tsx';
import { useDocumentTitle } from '../ui/page.tsx';
import { Surface } from '../ui/surface.tsx';

const route = getRouteApi('/sign-in');

const NAMES = { google: 'Google', github: 'GitHub' } as const;

/** Offers every provider that this platform trusts. */
export function SignInPage() {
  useDocumentTitle('Sign in');
  const { return_to: returnTo = '/' } = route.useSearch();
  const query = useQuery(authConfigurationQuery);
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-6 px-5 py-10">
      <Logo />
      <h1 className="text-xl font-semibold">Sign in</h1>
      <Surface>
        <div className="flex flex-col gap-3 p-5">
          <QueryBoundary query={query} loading={<Skeleton label="Loading the ways to sign in" rows={3} />}>
            {({ public_providers: providers }) => (
              <>
                {providers.map((provider) => (
                  <Continue key={provider} with={NAMES[provider]} choice={{ provider }} returnTo={returnTo} />
                ))}
                <Continue
                  with={providers.length === 0 ? 'your account' : 'another account'}
                  choice={{ provider: 'platform' }}
                  returnTo={returnTo}
                />
              </>
            )}
          </QueryBoundary>
        </div>
        <OrganizationSignIn returnTo={returnTo} />
      </Surface>
      {returnTo !== '/' && (
        <p className="text-sm text-ink-muted">You will return to the page you requested.</p>
      )}
    </main>
  );
}

function Continue(props: { with: string; choice: SignInChoice; returnTo: string }) {
  return (
    <a
      href={signInPath(props.returnTo, props.choice)}
      className={buttonClass({ variant: 'secondary', size: 'lg' })}
    >
      Continue with {props.with}
    </a>
  );
}

/** The domain of the address selects the organization's own provider. */
function OrganizationSignIn({ returnTo }: { returnTo: string }) {
  const [email, setEmail] = useState('');
  const isAddress = /^[^\s@]+@[^\s@]+$/.test(email.trim());
  return (
    <form
      className="flex flex-col gap-3 border-t border-line p-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (isAddress) location.assign(signInPath(returnTo, { email: email.trim() }));
      }}
    >
      <Field
        label="Work e-mail"
        type="email"
        value={email}
        onChange={setEmail}
        maxLength={320}
        hint="Your organization's own sign-in page opens if it has one."
      />
      <Button type="submit" disabledReason={isAddress ? null : 'Enter your work e-mail address'}>
        Continue with your organization
      </Button>
    </form>
  );
}
