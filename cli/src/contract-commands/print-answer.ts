import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Operation } from '@gpuaas/sdk/operations';
import { formatFacts, formatList } from '../format-answer.ts';
import { isPage, print, warnIfCut, type Output } from '../print.ts';
import { chooseColumns } from '../table-columns.ts';

/** JSON for programs; for people a table of a list, or the properties of a single resource. */
export async function printAnswer(output: Output, operation: Operation, answer: unknown): Promise<void> {
  if (operation.answer === 'stream')
    return await pipeline(Readable.fromWeb(answer as never), process.stdout, { end: false });
  if (typeof answer === 'string') return void process.stdout.write(answer);
  if (answer === undefined || answer === null) return print({ json: output.json }, {}, () => 'Done.');
  print(output, answer, () => {
    if (!isPage(answer)) return formatFacts(answer);
    const [first] = answer.items;
    return first
      ? formatList(answer.items, chooseColumns(operation.columns ?? Object.keys(first), answer.items))
      : 'None.';
  });
  if (!output.json && isPage(answer)) warnIfCut(answer);
}
