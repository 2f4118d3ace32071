import { chooseProvider } from '../domains/payments/choose-provider.ts';
import type { PaymentProvider } from '../domains/payments/provider.ts';
import { actingAs } from '../platform/db/scope.ts';
import type { Services } from '../platform/services.ts';
import type { Config } from './config.ts';

/** Who takes money in this installation. The demo is where the embedded identity provider is. */
export function paymentProviderOf(
  services: Services,
  { stripe, oidc, publicUrl }: Pick<Config, 'stripe' | 'oidc' | 'publicUrl'>,
): PaymentProvider | null {
  const worker = actingAs(services, 'gpuaas_worker');
  return chooseProvider(worker, { stripe, isDemo: oidc === null, publicUrl });
}
