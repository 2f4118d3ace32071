import { fieldsOf } from '../../fields-of.ts';
import { textOf } from '../../text-of.ts';

/** Addresses are relative: the page works at the root of an origin and below a base path. */
function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}`);
  return found;
}

function add(list: HTMLElement, tag: string, text: string): void {
  const item = document.createElement(tag);
  item.textContent = text;
  list.append(item);
}

async function showViewer(): Promise<void> {
  const answer = await fetch('viewer');
  const { user, headers } = fieldsOf(await answer.json());
  byId('user').textContent = textOf(user) || 'somebody';
  for (const [name, value] of Object.entries(fieldsOf(headers))) {
    add(byId('headers'), 'dt', name);
    add(byId('headers'), 'dd', textOf(value));
  }
}

function showLive(): void {
  const events = new EventSource('events');
  events.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const { seconds, watching } = fieldsOf(JSON.parse(data));
    byId('live').textContent = `Up for ${Number(seconds)} s. Open pages: ${Number(watching)}.`;
  });
  events.addEventListener('error', () => (byId('live').textContent = 'Connecting again …'));
}

function chat(): void {
  const address = new URL('socket', document.baseURI);
  address.protocol = address.protocol.replace('http', 'ws');
  const socket = new WebSocket(address);
  socket.addEventListener('message', ({ data }) => add(byId('said'), 'li', String(data)));
  byId('say').addEventListener('submit', (event) => {
    event.preventDefault();
    const input = byId('text');
    if (!(input instanceof HTMLInputElement) || socket.readyState !== WebSocket.OPEN) return;
    socket.send(input.value);
    input.value = '';
  });
}

await showViewer();
showLive();
chat();
