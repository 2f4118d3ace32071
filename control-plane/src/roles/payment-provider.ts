import { chooseProvider } from '../domains/payments/choose-provider.ts';
import type { PaymentProvider } from '../domains/payments/provider.ts';
import { servicesAsRole } from '../platform/db/scope.ts';
import type { Services } from '../platform/services.ts';
import type { Config } from './config.ts';

/** The payment provider of this installation. With the embedded identity provider it is the demo's. */
export function paymentProviderOf(
  services: Services,
  { stripe, oidc, publicUrl }: Pick<Config, 'stripe' | 'oidc' | 'publicUrl'>,
): PaymentProvider | null {
  const worker = servicesAsRole(services, 'gpuaas_worker');
  return chooseProvider(worker, { stripe, isDemo: oidc === null, publicUrl });
}
