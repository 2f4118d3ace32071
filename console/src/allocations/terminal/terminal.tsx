import { FitAddon } from '@xterm/addon-fit';
import { Terminal as Emulator } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/actions/button.tsx';
import { openTerminalSession, type TerminalStatus } from './terminal-session.ts';
import { TERMINAL_OPTIONS } from './terminal-options.ts';

/** A shell in the allocation's machine. */
export function Terminal({ allocationId }: { allocationId: string }) {
  const [attempt, setAttempt] = useState(1);
  const [status, setStatus] = useState<TerminalStatus>({ is: 'connecting' });
  return (
    <section aria-label="Terminal" className="overflow-hidden rounded-lg border border-line bg-[#0b0c0e]">
      <div className="flex min-h-11 items-center justify-between gap-3 border-b border-line bg-surface px-4 py-1.5 text-sm">
        <TerminalStatusLine status={status} />
        {status.is === 'closed' ? (
          <Button size="sm" onClick={() => setAttempt(attempt + 1)}>
            Reconnect
          </Button>
        ) : (
          <span className="text-xs text-ink-faint max-sm:hidden">Ctrl+Shift+X leaves the terminal</span>
        )}
      </div>
      <Screen key={attempt} allocationId={allocationId} onStatus={setStatus} />
    </section>
  );
}

function TerminalStatusLine({ status }: { status: TerminalStatus }) {
  const text = {
    connecting: 'Connecting…',
    ready: 'Connected',
    lost: 'Connection lost, reconnecting…',
    closed: 'Closed',
  }[status.is];
  return (
    <p role="status" className="min-w-0 break-words">
      <span className="font-medium">{text}</span>
      {status.is === 'closed' && <span className="text-ink-muted"> · {status.reason}</span>}
      {status.is === 'lost' && <span className="text-ink-muted"> · The shell keeps running meanwhile.</span>}
      {status.is === 'ready' && status.fresh && (
        <span className="text-ink-muted"> · This is a new shell; the previous one has ended.</span>
      )}
    </p>
  );
}

interface ScreenProps {
  allocationId: string;
  onStatus: (status: TerminalStatus) => void;
}

function Screen({ allocationId, onStatus }: ScreenProps) {
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => {
    if (!box.current) return undefined;
    const emulator = new Emulator(TERMINAL_OPTIONS);
    const fit = new FitAddon();
    emulator.loadAddon(fit);
    emulator.open(box.current);
    fit.fit();

    const session = openTerminalSession({
      allocationId,
      size: { cols: emulator.cols, rows: emulator.rows },
      onOutput: (bytes) => emulator.write(bytes),
      onStatus: (status) => {
        onStatus(status);
        if (status.is === 'ready') emulator.focus();
      },
    });
    const encoder = new TextEncoder();
    emulator.onData((text) => session.send(encoder.encode(text)));
    emulator.onBinary((bytes) => session.send(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))));
    emulator.onResize(({ cols, rows }) => session.resize({ cols, rows }));
    // Tab belongs to the shell, so the keyboard needs another way out.
    emulator.attachCustomKeyEventHandler((event) => {
      if (!(event.ctrlKey && event.shiftKey && event.code === 'KeyX')) return true;
      document.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus();
      return false;
    });
    const observer = new ResizeObserver(() => fit.fit());
    observer.observe(box.current);
    return () => {
      observer.disconnect();
      session.close();
      emulator.dispose();
    };
  }, [allocationId, onStatus]);

  return <div ref={box} className="h-[min(32rem,65dvh)] p-2" />;
}
