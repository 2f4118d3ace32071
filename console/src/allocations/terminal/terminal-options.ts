import type { ITerminalOptions } from '@xterm/xterm';

/** Dark in both themes: programs choose their colours for a dark ground. */
export const TERMINAL_OPTIONS: ITerminalOptions = {
  fontFamily: "ui-monospace, 'SF Mono', 'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  fontSize: 13,
  lineHeight: 1.2,
  cursorBlink: true,
  scrollback: 5_000,
  theme: {
    background: '#0b0c0e',
    foreground: '#e6e8ea',
    cursor: '#ff9a4d',
    cursorAccent: '#0b0c0e',
    selectionBackground: '#3c4048',
    black: '#2a2e34',
    red: '#ff8f87',
    green: '#62d394',
    yellow: '#f0c24b',
    blue: '#8bb6ff',
    magenta: '#bda6ff',
    cyan: '#6fd3d8',
    white: '#e6e8ea',
    brightBlack: '#8d95a0',
  },
};
