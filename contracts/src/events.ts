import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { keysOf } from './typed-keys.ts';
import { eventTypes, payloadSchemas, type EventType } from '../generated/events.ts';

import type { Permission } from '../generated/permissions.ts';

export type { EventPayloads, EventType } from '../generated/events.ts';

const ajv = new Ajv2020.default({ strict: true, allErrors: true, allowUnionTypes: true });
addFormats.default(ajv);

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventTypes, type);
}

/** Types that a tenant may see and subscribe to. */
export const tenantEventTypes: readonly EventType[] = keysOf(eventTypes).filter(
  (type) => eventTypes[type].audience === 'tenant',
);

/** Event types that are addressed to one person. */
export const personalEventTypes: readonly EventType[] = keysOf(eventTypes).filter(
  (type) => eventTypes[type].audience === 'person',
);

/** What it takes to see an event: in the project it names, at its tenant, or on the platform. */
export interface EventPermission {
  project?: Permission;
  tenant?: Permission;
  platform?: Permission;
}

export function eventPermission(type: EventType): EventPermission {
  return eventTypes[type].permission;
}

/** Permissions that show events of no tenant. */
export const operatorPermissions: readonly Permission[] = [
  ...new Set(
    Object.values(eventTypes).flatMap(
      ({ permission }: { permission: EventPermission }) => permission.platform ?? [],
    ),
  ),
];

/** What is wrong with a payload by the schema of its type; null when nothing is. */
export function payloadError(type: EventType, payload: unknown): string | null {
  const validate = ajv.getSchema(type) ?? ajv.addSchema(payloadSchemas[type], type).getSchema(type)!;
  return validate(payload) ? null : ajv.errorsText(validate.errors, { dataVar: type });
}
