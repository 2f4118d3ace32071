import type { AppInstanceLog } from '../../api/types.ts';

/** A browser shows no more of a log; the CLI prints all of it. */
export const MAX_CHARACTERS = 400_000;

/** The part of a log that a page holds. */
export interface LogText {
  text: string;
  /** Whether the log has more before the text. */
  cut: boolean;
  complete: boolean;
  /** More was printed than the policy keeps. */
  truncated: boolean;
}

export const EMPTY_LOG: LogText = { text: '', cut: false, complete: false, truncated: false };

/** Adds the next part. A text that begins inside the log begins with a whole line. */
export function appendLog(log: LogText, part: AppInstanceLog): LogText {
  const isFirst = log.text === '';
  const content = withoutControls(part.content);
  const added = isFirst && part.offset > 0 ? fromNextLine(content) : content;
  const joined = log.text + added;
  const isLong = joined.length > MAX_CHARACTERS;
  return {
    text: isLong ? fromNextLine(joined.slice(-MAX_CHARACTERS)) : joined,
    cut: log.cut || isLong || (isFirst && part.offset > 0 && added !== ''),
    complete: part.complete,
    truncated: part.truncated,
  };
}

function fromNextLine(text: string): string {
  return text.slice(text.indexOf('\n') + 1);
}

/** A colour, a cursor move or a title for a terminal. */
const TERMINAL_CODE = /(?![\t\n\r])\p{Cc}(?:\[[0-9;?]*[ -/]*[@-~]|\][^\p{Cc}]*(?:\p{Cc}\\)?)/gu;
const OTHER_CONTROL = /(?![\t\n])\p{Cc}/gu;

/** Terminal codes mean nothing here; a carriage return begins the line again. */
function withoutControls(text: string): string {
  return text.replaceAll(TERMINAL_CODE, '').replaceAll(/\r\n?/g, '\n').replaceAll(OTHER_CONTROL, '');
}
