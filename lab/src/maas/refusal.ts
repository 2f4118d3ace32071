/** An answer of MAAS other than success, as its API documents it: a sentence, or complaints about the form. */
export class MaasRefusal extends Error {
  readonly status: number;
  readonly body: string;
  readonly type: 'text/plain' | 'application/json';

  constructor(status: number, body: string | Record<string, string[]>) {
    super(typeof body === 'string' ? body : JSON.stringify(body));
    this.status = status;
    this.type = typeof body === 'string' ? 'text/plain' : 'application/json';
    this.body = this.message;
  }
}
