import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { present } from '../present.ts';
import { auditColumns, type AuditRow } from './rows.ts';

export const ZERO_HASH = Buffer.alloc(32);

const ID_BYTES = 16;
const LEAF_BYTES = 48;

export interface Leaf {
  id: string;
  hash: Buffer;
}

/** SHA-256 over the JSON array of the row's columns, in their order, as text. */
export function hashRow(row: AuditRow): Buffer {
  return sha256(JSON.stringify(auditColumns.map((column) => row[column])));
}

/** Each head holds everything before it. */
export function chainHead(previous: Buffer, leaves: readonly Leaf[]): Buffer {
  return leaves.reduce((head, leaf) => sha256(Buffer.concat([head, leaf.hash])), previous);
}

export function packLeaves(leaves: readonly Leaf[]): Buffer {
  return Buffer.concat(leaves.flatMap(({ id, hash }) => [Buffer.from(id.replaceAll('-', ''), 'hex'), hash]));
}

export function unpackLeaves(packed: Buffer): Leaf[] {
  return Array.from({ length: packed.length / LEAF_BYTES }, (_, index) => {
    const leaf = packed.subarray(index * LEAF_BYTES, (index + 1) * LEAF_BYTES);
    return { id: uuidOf(leaf.subarray(0, ID_BYTES)), hash: leaf.subarray(ID_BYTES) };
  });
}

/** Hash that the next segment builds on: covers everything in a checkpoint. */
export function hashStatement(statement: object): Buffer {
  return sha256(present(canonicalize(statement), 'canonical JSON'));
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
