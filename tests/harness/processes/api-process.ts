/** The public API in a separate process, over an existing database; called by messages instead of a port. */
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { createApi } from '@gpuaas/control-plane/roles/api';
import { openServices } from '@gpuaas/control-plane/roles/open-services';
import { stripeProvider } from '@gpuaas/control-plane/domains/payments/stripe/stripe-provider';
import { TEST_PUBLIC_URL, testApiOptions } from '../api.ts';
import { SECRET_KEY, WEBHOOK_SECRET } from '../servers/stripe/stripe-server.ts';
import type { AskedProcess } from './api-processes.ts';

const log = createLogger('api-process');
log.level = process.env['GPUAAS_TEST_LOG'] ?? 'silent';
const { services } = await openServices({
  databaseUrl: process.env['DATABASE_URL']!,
  dataDir: process.env['GPUAAS_DATA_DIR']!,
  log,
});
const stripeUrl = process.env['GPUAAS_TEST_STRIPE_URL'];
const settings = stripeUrl && {
  secretKey: SECRET_KEY,
  webhookSecret: WEBHOOK_SECRET,
  apiUrl: new URL(stripeUrl),
};
const paymentProvider = settings ? stripeProvider(settings, TEST_PUBLIC_URL) : null;
const api = await createApi(services, { ...testApiOptions(), paymentProvider });

process.on('message', ({ id, request }: AskedProcess) => {
  void api.server
    .inject(request)
    .then((answer) => process.send?.({ id, statusCode: answer.statusCode, body: answer.body }));
});
process.on('disconnect', () => process.exit(0));
process.send!({ id: 'ready' });
