import { readFileSync } from 'node:fs';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { parse as parseYaml } from 'yaml';

interface Message {
  summary: string;
  'x-audience': 'tenant' | 'operator' | 'person';
  payload: { allOf: [unknown, { properties: { payload: { $ref: string } } }] };
}

interface AsyncApi {
  channels: Record<string, { address: string; messages: { event: { $ref: string } } }>;
  components: { messages: Record<string, Message>; schemas: Record<string, JSONSchema> };
}

/** Event names, audiences and payload schemas of the AsyncAPI document, as TypeScript. */
export async function eventTypes(file: string, header: string): Promise<string> {
  const document = parseYaml(readFileSync(file, 'utf8')) as AsyncApi;
  const { messages, schemas } = document.components;
  const types: Record<string, { summary: string; audience: string }> = {};
  const schemaOf: Record<string, string> = {};
  for (const [name, channel] of Object.entries(document.channels)) {
    const message = messages[name];
    if (
      !message ||
      channel.address !== name ||
      channel.messages.event.$ref !== `#/components/messages/${name}`
    ) {
      throw new Error(`channel ${name} must carry the message of its own name at its own address`);
    }
    types[name] = { summary: message.summary, audience: message['x-audience'] };
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
