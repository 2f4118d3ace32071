/** A request that the app does not serve, with the reason for the caller. */
export class AppRefusal extends Error {
  readonly status: number;
  readonly code: string;
  /** The field of the request that is wrong. */
  readonly param: string | null;

  constructor(status: number, code: string, message: string, param: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}
