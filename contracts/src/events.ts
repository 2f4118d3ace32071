import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { eventTypes, payloadSchemas, type EventType } from '../generated/events.ts';

export type { EventPayloads, EventType } from '../generated/events.ts';

const ajv = new Ajv2020.default({ strict: true, allErrors: true, allowUnionTypes: true });
addFormats.default(ajv);

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventTypes, type);
}

/** Types that a tenant may see and subscribe to. */
export const tenantEventTypes: readonly EventType[] = (Object.keys(eventTypes) as EventType[]).filter(
  (type) => eventTypes[type].audience === 'tenant',
);

/** Types that are for one person alone. */
export const personalEventTypes: readonly EventType[] = (Object.keys(eventTypes) as EventType[]).filter(
  (type) => eventTypes[type].audience === 'person',
);

/** What is wrong with a payload by the schema of its type; null when nothing is. */
export function payloadMismatch(type: EventType, payload: unknown): string | null {
  const validate = ajv.getSchema(type) ?? ajv.addSchema(payloadSchemas[type], type).getSchema(type)!;
  return validate(payload) ? null : ajv.errorsText(validate.errors, { dataVar: type });
}
