import type { OperationObject } from '../../../../platform/http/operation.ts';
import { OciError } from './oci-error.ts';
import type { RegistryRight } from './repositories.ts';
import type { Target } from './targets.ts';

export interface RegistryOperation extends OperationObject {
  /** What the caller needs in the repository; null for those without one. */
  right: RegistryRight | null;
}

/** Methods of each kind of target; they are no operations of the contract, so their rules stand here. */
const METHODS: Readonly<Record<Target['kind'], Readonly<Record<string, RegistryRight | null>>>> = {
  version: { GET: null, HEAD: null },
  token: { GET: null },
  uploads: { POST: 'registry.push' },
  upload: { GET: 'registry.push', PATCH: 'registry.push', PUT: 'registry.push', DELETE: 'registry.push' },
  blob: { GET: 'registry.read', HEAD: 'registry.read', DELETE: 'registry.delete' },
  manifest: {
    GET: 'registry.read',
    HEAD: 'registry.read',
    PUT: 'registry.push',
    DELETE: 'registry.delete',
  },
  tags: { GET: 'registry.read' },
  referrers: { GET: 'registry.read' },
};

/** Names in logs and metrics. */
const NAMES: Readonly<Record<RegistryRight, string>> = {
  'registry.read': 'pullFromRegistry',
  'registry.push': 'pushToRegistry',
  'registry.delete': 'deleteFromRegistry',
};

/** The operation of a request, by which it is admitted. */
export function operationOf(method: string, target: Target): RegistryOperation {
  const right = METHODS[target.kind][method];
  if (right === undefined)
    throw new OciError(
      405,
      'UNSUPPORTED',
      `This path takes ${Object.keys(METHODS[target.kind]).join(', ')}.`,
    );
  if (right === null)
    return { operationId: 'signInToRegistry', 'x-permission': 'self', right, responses: {} };
  const isSystem = 'repository' in target && target.repository.projectId === null;
  const operationId = NAMES[right];
  if (right === 'registry.read')
    return { operationId, 'x-permission': isSystem ? 'self' : right, right, responses: {} };
  // An operator's rights count only where they are required.
  const permission = isSystem ? 'system_registry.manage' : right;
  return { operationId, 'x-permission': permission, 'x-audit': right, right, responses: {} };
}
