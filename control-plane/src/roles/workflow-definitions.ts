import { APP_RUNTIME_QUEUE } from '../domains/apps/instances/workflow-names.ts';
import { servicesAsRole, type DatabaseRole } from '../platform/db/scope.ts';
import type { WorkflowDefinition } from '../platform/workflows/definition.ts';
import type { PlatformServices } from './domain-answers.ts';
import { domainModules } from './domain-modules.ts';

type Definition = WorkflowDefinition<PlatformServices, never>;

/** Workflows of a queue act under its role, in whichever process they run. */
const ROLES: Readonly<Record<string, DatabaseRole>> = { [APP_RUNTIME_QUEUE]: 'gpuaas_app_runtime' };

/** All workflows; tests break each of their steps. */
export const workflowDefinitions: readonly Definition[] = domainModules
  .flatMap(({ workflows = [] }) => workflows)
  .map(underItsRole);

/** Those that enter guests, which a separate role runs. */
export const appRuntimeWorkflows = workflowDefinitions.filter(({ queue }) => queue === APP_RUNTIME_QUEUE);
export const workerWorkflows = workflowDefinitions.filter(({ queue }) => queue !== APP_RUNTIME_QUEUE);

function underItsRole(definition: Definition): Definition {
  const role = ROLES[definition.queue ?? ''];
  if (!role) return definition;
  return { ...definition, run: (services, input) => definition.run(servicesAsRole(services, role), input) };
}
