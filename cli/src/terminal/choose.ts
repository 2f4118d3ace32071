import { emitKeypressEvents, type Key } from 'node:readline';
import { colorize } from '../colorize.ts';
import { CancelledError } from '../usage-error.ts';
import { HIDE_CURSOR, Redraw, SHOW_CURSOR } from './redraw.ts';

export interface Choice<Value> {
  value: Value;
  label: string;
  hint?: string;
}

/** One of several, with the arrow keys. */
export async function chooseOne<Value>(
  question: string,
  choices: Choice<Value>[],
  initial = 0,
): Promise<Value> {
  const view = new Redraw();
  let at = initial;
  const lines = (): string[] =>
    choices.map(
      (choice, index) => `${index === at ? colorize('cyan', '❯', process.stderr) : ' '} ${label(choice)}`,
    );
  await untilEnter(() => view.draw([ask(question, 'arrows, enter'), ...lines()]), {
    move: (by) => (at = (at + by + choices.length) % choices.length),
  });
  view.draw([answeredLine(question, choices[at]!.label)]);
  return choices[at]!.value;
}

/** Any of several, with the space bar; all are chosen at first. */
export async function chooseSome<Value>(question: string, choices: Choice<Value>[]): Promise<Value[]> {
  const view = new Redraw();
  const chosen = new Set(choices);
  let at = 0;
  const line = (choice: Choice<Value>, index: number): string =>
    `${index === at ? colorize('cyan', '❯', process.stderr) : ' '} ${chosen.has(choice) ? '◉' : '◯'} ${label(choice)}`;
  await untilEnter(() => view.draw([ask(question, 'space, enter'), ...choices.map(line)]), {
    move: (by) => (at = (at + by + choices.length) % choices.length),
    toggle: () => {
      const choice = choices[at]!;
      if (!chosen.delete(choice)) chosen.add(choice);
    },
  });
  const kept = choices.filter((choice) => chosen.has(choice));
  view.draw([answeredLine(question, kept.map((choice) => choice.label).join(', ') || 'none')]);
  return kept.map((choice) => choice.value);
}

function label({ label: text, hint }: Choice<unknown>): string {
  return hint ? `${text}  ${colorize('dim', hint, process.stderr)}` : text;
}

function ask(question: string, keys: string): string {
  return `${colorize('cyan', '?', process.stderr)} ${question} ${colorize('dim', `(${keys})`, process.stderr)}`;
}

export function answeredLine(question: string, answer: string): string {
  return `${colorize('green', '✔', process.stderr)} ${question} ${colorize('dim', answer, process.stderr)}`;
}

interface Keys {
  move: (by: number) => void;
  toggle?: () => void;
}

function untilEnter(draw: () => void, { move, toggle }: Keys): Promise<void> {
  const { stdin, stderr } = process;
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  stderr.write(HIDE_CURSOR);
  draw();
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      stdin.off('keypress', onKey);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write(SHOW_CURSOR);
      settle();
    };
    const onKey = (_text: string | undefined, key: Key): void => {
      if ((key.ctrl && key.name === 'c') || key.name === 'escape') {
        return end(() => reject(new CancelledError('cancelled.')));
      }
      if (key.name === 'return' || key.name === 'enter') return end(resolve);
      if (key.name === 'up' || key.name === 'k') move(-1);
      if (key.name === 'down' || key.name === 'j') move(1);
      if (key.name === 'space') toggle?.();
      draw();
    };
    stdin.on('keypress', onKey);
  });
}
