import { createInterface } from 'node:readline/promises';
import { colorize } from '../colorize.ts';
import { CancelledError } from '../usage-error.ts';

/** A line of text; repeats the question until the answer is valid. An empty answer is the `fallback`. */
export async function askText(
  question: string,
  fallback: string,
  wrong: (text: string) => string | null = () => null,
): Promise<string> {
  for (;;) {
    const hint = fallback ? colorize('dim', ` (${fallback})`, process.stderr) : '';
    const text =
      (await line(`${colorize('cyan', '?', process.stderr)} ${question}${hint} `)).trim() || fallback;
    const objection = wrong(text);
    if (objection === null) return text;
    console.error(`  ${colorize('red', objection, process.stderr)}`);
  }
}

/** An empty answer is yes, unless the question destroys something. */
export async function askYesOrNo(
  question: string,
  { otherwise }: { otherwise: 'yes' | 'no' } = { otherwise: 'yes' },
): Promise<boolean> {
  const choices = otherwise === 'yes' ? '[Y/n]' : '[y/N]';
  const answer = await askText(`${question} ${choices}`, '', (text) =>
    /^(y|yes|n|no|)$/i.test(text) ? null : 'Answer y or n.',
  );
  return /^y/i.test(answer || otherwise);
}

async function line(prompt: string): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const left = new Promise<never>((_resolve, reject) => {
    const leave = (): void => reject(new CancelledError('cancelled.'));
    reader.once('SIGINT', leave).once('close', leave);
  });
  try {
    return await Promise.race([reader.question(prompt), left]);
  } finally {
    reader.close();
  }
}
