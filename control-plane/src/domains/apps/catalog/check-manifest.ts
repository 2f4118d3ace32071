import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { tenantPermissions } from '@gpuaas/contracts/generated/permissions.ts';
import type { ProblemDetail } from '../../../platform/http/problem.ts';
import { isSettable } from '../executors/allocation/runner/write-spec.ts';
import { faultsOfDeclaration, parameterVariable } from '../instances/parameters.ts';

type NewVersion = components['schemas']['PublishAppManifestVersion'];

/** Contradictions in a manifest, which no schema can find. */
export function faultsOfManifest(manifest: NewVersion): ProblemDetail[] {
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
  if ((manifest.artifact_ref ?? null) === null && manifest.artifact_format !== undefined)
    fault('/artifact_format', 'needs an artifact_ref');
  if (manifest.artifact_ref && manifest.artifact_format === undefined)
    fault('/artifact_format', 'is required with an artifact_ref');
  return faults;
}

function repeated<T>(values: readonly T[]): T[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}
