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
  /** Content type of a success; none when left out. */
  answer?: 'json' | 'text' | 'stream';
  /** Schema of the resource that is created or changed in the background. */
  accepted?: string;
  /** Plain properties of an item of a list, in the order of the contract. */
  columns?: string[];
}

export interface OperationField {
  name: string;
  in: 'path' | 'query' | 'body';
  /** `value` may be a text or another type; `json` has no plainer form. */
  type: 'string' | 'integer' | 'number' | 'boolean' | 'strings' | 'integers' | 'money' | 'value' | 'json';
  required?: true;
  choices?: string[];
  description?: string;
  /** Its value usually comes from a file. */
  fromFile?: true;
}
