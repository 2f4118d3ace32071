/** A task that failed for a reason the platform should know; `output` carries evidence gathered until then. */
export class TaskError extends Error {
  readonly code: string;
  readonly output: Record<string, unknown> | null;

  constructor(code: string, detail: string, output: Record<string, unknown> | null = null) {
    super(detail);
    this.code = code;
    this.output = output;
  }
}
