/** What a recorded terminal tells as it goes. */
export interface TerminalRecorder {
  /** Shown to whoever sits at the terminal before anything else. */
  notice: string;
  output(data: Buffer): void;
  resize(cols: number, rows: number): void;
  end(): Promise<void>;
}
