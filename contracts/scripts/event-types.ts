import { readFileSync } from 'node:fs';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { parse as parseYaml } from 'yaml';

type Audience = 'tenant' | 'operator' | 'person';
type Level = 'platform' | 'tenant' | 'project';

/** Where the permission to see an event of an audience may be held. */
const LEVELS: Record<Audience, readonly Level[]> = {
  tenant: ['tenant', 'project'],
  operator: ['platform'],
  person: [],
};

interface Message {
  summary: string;
  'x-audience': Audience;
  'x-permission'?: Partial<Record<Level, string>>;
  payload: { allOf: [unknown, { properties: { payload: { $ref: string } } }] };
}

interface AsyncApi {
  channels: Record<string, { address: string; messages: { event: { $ref: string } } }>;
  components: { messages: Record<string, Message>; schemas: Record<string, JSONSchema> };
}

/** Event names, audiences and payload schemas of the AsyncAPI document, as TypeScript. */
export async function eventTypes(
  file: string,
  header: string,
  stageSchemas: string,
  permissions: readonly string[],
): Promise<string> {
  const document = withStages(parseYaml(readFileSync(file, 'utf8')), JSON.parse(stageSchemas)) as AsyncApi;
  const { messages, schemas } = document.components;
  const types: Record<string, { summary: string; audience: string; permission: Message['x-permission'] }> =
    {};
  const schemaOf: Record<string, string> = {};
  for (const [name, channel] of Object.entries(document.channels)) {
    const message = messages[name];
    if (
      !message ||
      channel.address !== name ||
      channel.messages.event.$ref !== `#/components/messages/${name}`
    ) {
      throw new Error(`channel ${name} must carry the message of the same name at the same address`);
    }
    requirePermission(name, message, permissions);
    const permission = message['x-permission'] ?? {};
    types[name] = { summary: message.summary, audience: message['x-audience'], permission };
    schemaOf[name] = message.payload.allOf[1].properties.payload.$ref.split('/').at(-1)!;
  }
  const used = Object.fromEntries(
    [...new Set(Object.values(schemaOf))].map((name) => [name, schemas[name]!]),
  );
  const everything: JSONSchema = {
    title: 'AllPayloads',
    type: 'object',
    properties: used,
    additionalProperties: false,
  };
  const options = { bannerComment: '', additionalProperties: false, ignoreMinAndMaxItems: true };
  const map = Object.entries(schemaOf).map(([type, schema]) => `  '${type}': ${schema};`);
  return [
    header,
    await compile(everything, 'AllPayloads', options),
    `\nexport const eventTypes = ${JSON.stringify(types, null, 2)} as const;\n`,
    '\nexport type EventType = keyof typeof eventTypes;\n',
    `\nexport interface EventPayloads {\n${map.join('\n')}\n}\n`,
    `\nexport const payloadSchemas: Record<EventType, object> = ${JSON.stringify(
      Object.fromEntries(Object.entries(schemaOf).map(([type, schema]) => [type, used[schema]])),
      null,
      2,
    )};\n`,
  ].join('');
}

/** An event that names no permission would be seen by nobody, or by everybody: neither is decided by omission. */
function requirePermission(name: string, message: Message, known: readonly string[]): void {
  const levels = LEVELS[message['x-audience']];
  const named = Object.entries(message['x-permission'] ?? {});
  if (levels.length > 0 !== named.length > 0)
    throw new Error(`event ${name} must say by x-permission what it takes to see it`);
  for (const [level, permission] of named) {
    if (!levels.some((allowed) => allowed === level))
      throw new Error(`event ${name} asks for a permission at ${level}, which its audience does not have`);
    if (!known.includes(permission))
      throw new Error(`event ${name} asks for ${permission}, which is unknown`);
  }
}

const STAGES = 'generated/stages.schema.json#/';

/** The document with each reference to a stage replaced by its enum: validators of payloads read no other file. */
function withStages(node: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((one: unknown) => withStages(one, schemas));
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node && typeof node.$ref === 'string' && node.$ref.startsWith(STAGES)) {
    const schema = schemas[node.$ref.slice(STAGES.length)];
    if (!schema) throw new Error(`asyncapi.yaml: nothing at ${node.$ref}`);
    return schema;
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withStages(value, schemas)]));
}
