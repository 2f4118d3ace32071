import type { Contract, Operation } from '../contract/operations.ts';
import type { Schema } from '../contract/schema-values.ts';

/** Bodies that cost most to refuse: as large as the operation takes, and wrong in as many places as fit. */
export function worstBodies(contract: Contract, operation: Operation): string[] {
  const room = operation.maxBodyBytes;
  const schema = contract.resolve(operation.body!);
  const lists = listsOf(contract, schema).flatMap((path) => [
    filled(path, '{}', room),
    filled(path, '"a"', room),
    filled(path, '[]', room),
  ]);
  return [unknownFields(room), filled([], '{}', room), ...lists].filter((body) => body.length <= room);
}

/** Where the schema takes lists or maps, as the names of the fields that lead there. */
function listsOf(contract: Contract, schema: Schema, path: string[] = []): string[][] {
  const { properties = {}, type, items, anyOf = [], oneOf = [], allOf = [] } = contract.resolve(schema);
  const own = [type ?? []].flat().includes('array') && items ? [path] : [];
  const fields = Object.entries(properties).flatMap(([name, field]) =>
    path.length > 4 ? [] : listsOf(contract, field, [...path, name]),
  );
  return [
    ...own,
    ...fields,
    ...[...anyOf, ...oneOf, ...allOf].flatMap((one) => listsOf(contract, one, path)),
  ];
}

function filled(path: readonly string[], item: string, room: number): string {
  const before = `${path.map((name) => `{${JSON.stringify(name)}:`).join('')}[`;
  const after = `]${'}'.repeat(path.length)}`;
  const count = Math.floor((room - before.length - after.length) / (item.length + 1));
  return `${before}${Array.from({ length: Math.max(count, 0) }, () => item).join(',')}${after}`;
}

function unknownFields(room: number): string {
  const fields: string[] = [];
  for (let size = 2; ;) {
    const field = `"f${fields.length}":0`;
    size += field.length + 1;
    if (size > room) return `{${fields.join(',')}}`;
    fields.push(field);
  }
}
