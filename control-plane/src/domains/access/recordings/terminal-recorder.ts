/** Events of a recorded terminal. */
export interface TerminalRecorder {
  /** Shown first to the user of the terminal. */
  notice: string;
  output(data: Buffer): void;
  resize(cols: number, rows: number): void;
  end(): Promise<void>;
}
