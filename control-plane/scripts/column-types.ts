import {
  GenericExpressionNode,
  IdentifierNode,
  LiteralNode,
  UnionExpressionNode,
  type ExpressionNode,
} from 'kysely-codegen';
import type { Client } from 'pg';
import { STORED_COLUMNS } from './stored-columns.ts';

const CLOSED_SET = /^CHECK \(\((\w+) = ANY \(ARRAY\[(.+)\]\)\)\)$/;

/**
 * Types of the columns that hold less than `text` or JSON could. The values of a closed set come from its check
 * constraint, so that the types follow the migrations; `STORED_COLUMNS` names the types that the schema cannot say.
 */
export async function columnTypes(client: Client): Promise<Record<string, ExpressionNode>> {
  const columns = await columnsByName(client);
  const stored = Object.entries(STORED_COLUMNS).map(([name, type]): [string, ExpressionNode] => [
    name,
    new IdentifierNode(type),
  ]);
  const types = [...(await closedSets(client)), ...stored].map(([name, type]): [string, ExpressionNode] => {
    const column = columns.get(name);
    if (!column) throw new Error(`There is no column ${name}`);
    return [name, column.hasDefault ? new GenericExpressionNode('Generated', [type]) : type];
  });
  return Object.fromEntries(types);
}

async function closedSets(client: Client): Promise<[string, ExpressionNode][]> {
  const { rows } = await client.query<{ table: string; rule: string }>(
    `select c.relname as table, pg_get_constraintdef(k.oid) as rule
     from pg_constraint k join pg_class c on c.oid = k.conrelid
     where k.contype = 'c' and c.relnamespace = 'public'::regnamespace and not c.relispartition
     order by c.relname, k.conname`,
  );
  return rows.flatMap(({ table, rule }): [string, ExpressionNode][] => {
    const [, column, list = ''] = CLOSED_SET.exec(rule) ?? [];
    const values = [...list.matchAll(/'([^']*)'::text/g)].map(([, value = '']) => value);
    if (column === undefined || values.length === 0) return [];
    const union = new UnionExpressionNode(values.toSorted().map((value) => new LiteralNode(value)));
    return [[`${table}.${column}`, union]];
  });
}

async function columnsByName(client: Client): Promise<Map<string, { hasDefault: boolean }>> {
  const { rows } = await client.query<{ name: string; hasDefault: boolean }>(
    `select c.relname || '.' || a.attname as name, a.atthasdef as "hasDefault"
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`,
  );
  return new Map(rows.map((row) => [row.name, row]));
}
