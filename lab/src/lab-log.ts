/** The part of a logger that the lab needs; pino fits. */
export interface LabLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
