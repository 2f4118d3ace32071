import type { Services } from '../../platform/services.ts';
import { deleteSecretsAtClosing } from './delete-secret.ts';
import { secretLimits } from './limits.ts';
import { secretRoutes } from './routes.ts';

export const secretsModule = {
  routes: ({ services }: { services: Services }) => secretRoutes(services),
  closing: [deleteSecretsAtClosing],
  limits: secretLimits,
};
