import { createInterface } from 'node:readline/promises';
import { paint } from '../paint.ts';
import { CancelledError } from '../usage-error.ts';

/** A line of text; asked again until it is right. An empty one is the `fallback`. */
export async function askText(
  question: string,
  fallback: string,
  wrong: (text: string) => string | null = () => null,
): Promise<string> {
  for (;;) {
    const hint = fallback ? paint('dim', ` (${fallback})`, process.stderr) : '';
    const text = (await line(`${paint('cyan', '?', process.stderr)} ${question}${hint} `)).trim() || fallback;
    const objection = wrong(text);
    if (objection === null) return text;
    console.error(`  ${paint('red', objection, process.stderr)}`);
  }
}

export async function askYesOrNo(question: string): Promise<boolean> {
  const answer = await askText(`${question} [Y/n]`, '', (text) =>
    /^(y|yes|n|no|)$/i.test(text) ? null : 'Answer y or n.',
  );
  return !/^n/i.test(answer);
}

async function line(prompt: string): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const left = new Promise<never>((_resolve, reject) => {
    const leave = (): void => reject(new CancelledError('nothing was done.'));
    reader.once('SIGINT', leave).once('close', leave);
  });
  try {
    return await Promise.race([reader.question(prompt), left]);
  } finally {
    reader.close();
  }
}
