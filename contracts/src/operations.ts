/** One operation of the public contract, as programs that offer all of them need it. */
export interface Operation {
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  path: string;
  summary: string;
  fields: OperationField[];
  /** The caller sends the entity tag it has read. */
  ifMatch?: true;
  /** Answers with a page of items and a cursor. */
  paged?: true;
  /** What a success carries; nothing when left out. */
  answer?: 'json' | 'text' | 'stream';
  /** Plain properties of an item of a list, in the order of the contract. */
  columns?: string[];
}

export interface OperationField {
  name: string;
  in: 'path' | 'query' | 'body';
  /** `json` is whatever is no plain value or list of plain values. */
  type: 'string' | 'integer' | 'number' | 'boolean' | 'strings' | 'json';
  required?: true;
  choices?: string[];
  description?: string;
}
