import { Problem } from '../../../platform/http/problem.ts';
import type { CapacityShape } from '../../placement/candidate.ts';
import { shapeOf } from '../shapes/shape-of.ts';
import { ALLOWED_CLOUD_CONFIG_KEYS } from './cloud-config-keys.ts';
import { CloudConfigError, readCloudConfigKeys } from './read-cloud-config.ts';

const MAX_BYTES = 16_384;

/**
 * Refuses user-data that would keep a machine from starting. A tenant with root can change anything later;
 * this only ensures that the machine comes up with the platform's login, host key, name and network.
 */
export function checkUserData(text: string, shape: CapacityShape): void {
  const { userDataRefusal } = shapeOf({ capacity_shape: shape });
  if (userDataRefusal !== null) throw refused(userDataRefusal);
  if (Buffer.byteLength(text) > MAX_BYTES) throw refused(`It is larger than ${MAX_BYTES} bytes.`);
  if (text.includes('\0')) throw refused('It contains a null character.');
  const [first = ''] = text.split(/\r?\n/, 1);
  if (first.startsWith('#!')) return;
  if (first.trimEnd() !== '#cloud-config')
    throw refused('Its first line must be `#cloud-config`, or begin with `#!`.');
  const forbidden = topKeys(text).filter((key) => !ALLOWED_CLOUD_CONFIG_KEYS.has(key));
  if (forbidden.length === 0) return;
  throw new Problem('user_data_refused', `Not for tenants to set: ${forbidden.join(', ')}.`, {
    extensions: {
      forbidden_keys: forbidden,
      allowed_keys: [...ALLOWED_CLOUD_CONFIG_KEYS],
    },
  });
}

function topKeys(text: string): string[] {
  try {
    return readCloudConfigKeys(text);
  } catch (error) {
    if (error instanceof CloudConfigError) throw refused(error.message);
    throw error;
  }
}

function refused(detail: string): Problem {
  return new Problem('user_data_refused', detail);
}
