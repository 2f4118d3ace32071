/** A task failure with a reason for the platform; `output` carries the evidence so far. */
export class TaskError extends Error {
  readonly code: string;
  readonly output: Record<string, unknown> | null;

  constructor(code: string, detail: string, output: Record<string, unknown> | null = null) {
    super(detail);
    this.code = code;
    this.output = output;
  }
}
