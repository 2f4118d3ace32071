import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** However loaded the machine is. */
const DEADLINE_MS = 90_000;

export const hasTmux = existsSync('/usr/bin/tmux');

/** A real terminal that a script types into and reads from. */
export class Terminal {
  readonly #socket = `gpuaas-test-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;

  /** Types into a shell with this environment and nothing else of ours. */
  async open(env: Record<string, string>): Promise<void> {
    const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const shell = ['env', '-i', ...settings, 'bash', '--norc', '--noprofile'];
    await this.#tmux('-f', '/dev/null', 'new-session', '-d', '-x', '120', '-y', '45', ...shell);
  }

  async type(text: string): Promise<void> {
    await this.#tmux('send-keys', '-l', text);
  }

  /** By the names of tmux: `Enter`, `Down`, `C-c`. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.#tmux('send-keys', key);
  }

  async screen(): Promise<string> {
    return await this.#tmux('capture-pane', '-p', '-J');
  }

  async clear(): Promise<void> {
    await this.type('clear');
    await this.press('Enter');
    await this.shows(/^\$\s*$/);
  }

  async shows(pattern: RegExp | string): Promise<void> {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
      const screen = await this.screen();
      if (typeof pattern === 'string' ? screen.includes(pattern) : pattern.test(screen)) return;
      if (Date.now() > deadline) throw new Error(`The terminal never showed ${pattern}, but:\n${screen}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  async close(): Promise<void> {
    await this.#tmux('kill-server').catch(() => undefined);
  }

  async #tmux(...args: string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-L', this.#socket, ...args], { timeout: 30_000 });
    return stdout;
  }
}
