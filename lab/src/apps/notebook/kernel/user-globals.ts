import { createRequire } from 'node:module';
import { join } from 'node:path';
import { constants, runInThisContext } from 'node:vm';
import { DISPLAY, formatValue } from './format-value.ts';
import type { MimeBundle } from './kernel-events.ts';
import { IMPORT } from './rewrite-imports.ts';
import { writeEvent } from './write-event.ts';

/** What cells find beside the globals of Node: `require`, `display`, and output streams that show under the cell. */
export function installUserGlobals(): void {
  const load: unknown = runInThisContext('(module) => import(module)', {
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const define = (name: string, value: unknown): void =>
    void Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  define(IMPORT, load);
  define('require', createRequire(join(process.cwd(), 'cell')));
  define('display', display);
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (chunk: unknown, ...rest: unknown[]): boolean => {
      const text = typeof chunk === 'string' ? chunk : Buffer.from(toBytes(chunk)).toString('utf8');
      if (text !== '') writeEvent({ type: 'stream', name, text });
      const done = rest.findLast((argument) => typeof argument === 'function');
      if (typeof done === 'function') queueMicrotask(() => void Reflect.apply(done, undefined, []));
      return true;
    };
  }
}

function toBytes(chunk: unknown): Uint8Array {
  return chunk instanceof Uint8Array ? chunk : new Uint8Array();
}

async function show(data: MimeBundle, options: { id?: string; update?: boolean }): Promise<void> {
  const { id = null, update = false } = options;
  writeEvent({ type: 'display', data, displayId: id, update });
}

interface DisplayOptions {
  /** Names the output, so that a later call with `update` replaces it. */
  id?: string;
  update?: boolean;
}

/** Shows a value under the cell. */
async function display(value: unknown, options: DisplayOptions = {}): Promise<void> {
  await show(await formatValue(value), options);
}
const as =
  (type: string) =>
  (content: unknown, options: DisplayOptions = {}): Promise<void> =>
    show({ [type]: content }, options);
display.html = as('text/html');
display.markdown = as('text/markdown');
display.svg = as('image/svg+xml');
display.json = as('application/json');
display.png = (bytes: Uint8Array, options: DisplayOptions = {}): Promise<void> =>
  show({ 'image/png': Buffer.from(bytes).toString('base64') }, options);
display.clear = (wait = false): void => writeEvent({ type: 'clear', wait });
display.symbol = DISPLAY;
