/** What the lab needs of a logger; pino fits. */
export interface LabLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
