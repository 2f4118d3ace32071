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
  /** What is made or moved in the background, by the name of its schema. */
  accepted?: string;
  /** Plain properties of an item of a list, in the order of the contract. */
  columns?: string[];
}

export interface OperationField {
  name: string;
  in: 'path' | 'query' | 'body';
  /** `value` may be a text or something else; `json` is whatever has no plainer form. */
  type: 'string' | 'integer' | 'number' | 'boolean' | 'strings' | 'integers' | 'money' | 'value' | 'json';
  required?: true;
  choices?: string[];
  description?: string;
  /** People keep it in a file. */
  fromFile?: true;
}
