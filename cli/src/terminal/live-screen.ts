import { emitKeypressEvents, type Key } from 'node:readline';
import { sleep } from '@gpuaas/sdk/sleep';
import { runUntilInterrupted } from '../run-until-interrupted.ts';
import { HIDE_CURSOR, Redraw, SHOW_CURSOR } from './redraw.ts';

const OTHER_SCREEN = '\u001B[?1049h\u001B[H';
const FORMER_SCREEN = '\u001B[?1049l';

/** Redraws a screen until the person leaves with q or Ctrl-C, then restores the previous content. */
export async function runLiveScreen(everyMs: number, lines: () => Promise<string[]>): Promise<void> {
  const { stdin, stdout } = process;
  await runUntilInterrupted(async (signal) => {
    const left = new AbortController();
    const onKey = (_text: string | undefined, key: Key): void => {
      if (key.name === 'q' || (key.ctrl && key.name === 'c')) left.abort();
    };
    emitKeypressEvents(stdin);
    stdin.setRawMode(true).resume().on('keypress', onKey);
    stdout.write(OTHER_SCREEN + HIDE_CURSOR);
    const ends = AbortSignal.any([signal, left.signal]);
    const view = new Redraw(stdout);
    try {
      while (!ends.aborted) {
        const drawn = await lines();
        view.draw(drawn.slice(0, Math.max(1, stdout.rows - 1)));
        await sleep(everyMs, ends);
      }
    } finally {
      stdin.off('keypress', onKey).setRawMode(false).pause();
      stdout.write(SHOW_CURSOR + FORMER_SCREEN);
    }
  });
}
