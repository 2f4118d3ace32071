import type { Services } from '../../platform/services.ts';
import { closeIdentityProviders } from './close-identity-providers.ts';
import { identityProviderRoutes, type IdentityProviderOptions } from './identity-provider-routes.ts';
import { signInLimits } from './limits.ts';
import { signInRoutes, type SignInOptions } from './routes.ts';

interface SignInContext {
  services: Services;
  signIn: SignInOptions;
  identityProviders: IdentityProviderOptions;
}

export const signInModule = {
  routes: ({ services, signIn, identityProviders }: SignInContext) => ({
    ...signInRoutes(services, signIn),
    ...identityProviderRoutes(services, identityProviders),
  }),
  closing: [closeIdentityProviders],
  limits: signInLimits,
};
