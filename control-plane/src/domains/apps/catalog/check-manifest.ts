import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { isSecretName, sanitizeText } from '@gpuaas/contracts/sanitize';
import { tenantPermissions } from '@gpuaas/contracts/generated/permissions.ts';
import type { ProblemDetail } from '../../../platform/http/problem.ts';
import { isSettable } from '../executors/allocation/runner/write-spec.ts';
import { faultsOfDeclaration, parameterVariable } from '../instances/parameters.ts';

type NewVersion = components['schemas']['PublishAppManifestVersion'];
/** The parts of a manifest that can contradict each other. */
export type JudgedManifest = Pick<
  NewVersion,
  'kind' | 'runtime_profile' | 'parameters' | 'secrets' | 'platform_access'
>;

/** Contradictions in a manifest, which no schema can find. */
export function faultsOfManifest(manifest: JudgedManifest): ProblemDetail[] {
  const { runtime_profile: runtime, parameters = [], secrets = [], platform_access: access = [] } = manifest;
  const { ports, env, readiness } = runtime;
  const faults: ProblemDetail[] = [];
  const fault = (pointer: string, detail: string): void => void faults.push({ pointer, detail });

  for (const name of repeated(ports.map((port) => port.name)))
    fault('/runtime_profile/ports', `name ${name} twice`);
  for (const port of repeated(ports.map((each) => each.port)))
    fault('/runtime_profile/ports', `use ${port} twice`);
  const probed = ports.find((port) => port.name === readiness?.port);
  if (readiness && !probed) fault('/runtime_profile/readiness/port', 'is no port of the app');
  if (readiness && manifest.kind === 'job')
    fault('/runtime_profile/readiness', 'is for services: a job runs when its process does');
  if (readiness?.path != null && probed?.protocol === 'tcp')
    fault('/runtime_profile/readiness/path', 'needs a port of protocol http');

  const variables = [
    ...env.map(({ name }) => name),
    ...secrets,
    ...parameters.map(({ name }) => parameterVariable(name)),
  ];
  for (const name of repeated(variables)) fault('/runtime_profile/env', `${name} is set twice`);
  for (const name of variables.filter((one) => !isSettable(one)))
    fault('/runtime_profile/env', `${name} cannot be set`);
  for (const { name, detail } of faultsOfDeclaration(parameters)) fault('/parameters', `${name} ${detail}`);
  for (const permission of access.filter((one) => !Object.hasOwn(tenantPermissions, one)))
    fault('/platform_access', `${permission} is no permission in a project`);
  for (const { name } of env.filter(holdsSecret))
    fault(
      '/runtime_profile/env',
      `${name} holds a secret: name it in secrets, so that each project sets its own`,
    );
  return faults;
}

/** Faults of the way in which a version names its payload. */
export function faultsOfReference({
  artifact_ref: ref,
  artifact_format: format,
}: NewVersion): ProblemDetail[] {
  if ((ref ?? null) === null && format !== undefined)
    return [{ pointer: '/artifact_format', detail: 'needs an artifact_ref' }];
  if (ref && format === undefined)
    return [{ pointer: '/artifact_format', detail: 'is required with an artifact_ref' }];
  return [];
}

/** Every tenant can read a manifest. Numbers and switches, such as `MAX_TOKENS`, are no secrets. */
function holdsSecret({ name, value }: { name: string; value: string }): boolean {
  const plain = /^(|[0-9.]+|true|false)$/.test(value);
  return (isSecretName(name) && !plain) || sanitizeText(value) !== value;
}

function repeated<T>(values: readonly T[]): T[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}
