import type { WorkflowDefinition } from '../platform/workflows/definition.ts';
import type { PlatformServices } from './domain-answers.ts';
import { domainModules } from './domain-modules.ts';

/** All workflows of a worker; tests break each of their steps. */
export const workflowDefinitions: readonly WorkflowDefinition<PlatformServices, never>[] =
  domainModules.flatMap(({ workflows = [] }) => workflows);
