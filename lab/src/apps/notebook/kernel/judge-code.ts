import { Script } from 'node:vm';
import { rewriteImports } from './rewrite-imports.ts';

const UNFINISHED = /Unexpected end of input|Unterminated template|Unterminated regular/;

/** Whether Enter should run the code or begin a new line. */
export function judgeCode(code: string): 'complete' | 'incomplete' | 'invalid' {
  const opened = `(async () => {\n${rewriteImports(code)}\n`;
  if (syntaxError(`${opened}});`) === null) return 'complete';
  // Without the end of the function, only code that goes on has nothing worse than a missing end.
  return UNFINISHED.test(syntaxError(opened) ?? '') ? 'incomplete' : 'invalid';
}

function syntaxError(code: string): string | null {
  try {
    void new Script(code);
    return null;
  } catch (error) {
    return String(error);
  }
}
