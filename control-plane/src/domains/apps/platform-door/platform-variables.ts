import { mintAppInstanceToken } from '../../../platform/auth/app-instance-token.ts';
import type { Services } from '../../../platform/services.ts';
import type { LoadedInstance } from '../runtime/load-instance.ts';
import { PLATFORM_URL } from './platform-address.ts';

/** Where a member reaches the platform, and with what; nothing if its manifest declares no access. */
export function platformVariables(
  { sealer }: Pick<Services, 'sealer'>,
  { instance, version }: Pick<LoadedInstance, 'instance' | 'version'>,
): Map<string, string> {
  if (version.platform_access.length === 0) return new Map();
  // The names that the command line and the SDK read.
  return new Map([
    ['GPUAAS_URL', PLATFORM_URL],
    ['GPUAAS_API_KEY', mintAppInstanceToken(sealer, instance.id)],
  ]);
}
