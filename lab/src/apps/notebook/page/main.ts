import { CellView, type CellHandlers } from './cell-view.ts';
import { KernelSocket } from './kernel-socket.ts';
import { emptyNotebook, newCell, writeNotebookFile, type NotebookFile } from './notebook-file.ts';
import {
  createNotebook,
  interruptKernel,
  listNotebooks,
  openSession,
  readNotebook,
  restartKernel,
  saveNotebook,
} from './notebook-api.ts';

const byId = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}`);
  return found;
};

let path = '';
let file: NotebookFile = emptyNotebook();
let cells: CellView[] = [];
let kernel: { id: string; socket: KernelSocket } | null = null;
/** The cell that had the focus last. */
let current: CellView | null = null;
let isChanged = false;

const handlers: CellHandlers = {
  onRun: (cell) => void runAndGoOn(cell),
  onRemove(cell) {
    cells = cells.filter((other) => other !== cell);
    cell.element.remove();
    isChanged = true;
  },
  onChange: () => void (isChanged = true),
};

function addCell(type: 'code' | 'markdown', after?: CellView): CellView {
  const cell = new CellView(newCell(type), handlers);
  const index = after ? cells.indexOf(after) + 1 : cells.length;
  cells.splice(index, 0, cell);
  if (after) after.element.after(cell.element);
  else byId('cells').append(cell.element);
  isChanged = true;
  return cell;
}

async function runAndGoOn(cell: CellView): Promise<void> {
  const next = cells[cells.indexOf(cell) + 1] ?? addCell('code', cell);
  next.focus();
  await runCells([cell]);
}

async function runCells(chosen: readonly CellView[]): Promise<void> {
  const running = kernel;
  if (!running) return;
  isChanged = true;
  await Promise.all(chosen.map((cell) => cell.run(running.socket)));
}

async function save(): Promise<void> {
  await saveNotebook(
    path,
    writeNotebookFile(
      file,
      cells.map(({ data }) => data),
    ),
  );
  isChanged = false;
  byId('save').textContent = 'Saved';
  setTimeout(() => (byId('save').textContent = 'Save'), 1500);
}

async function open(name: string): Promise<void> {
  const read = await readNotebook(name);
  path = name;
  file = read.cells.length > 0 ? read : emptyNotebook();
  cells = file.cells.map((data) => new CellView(data, handlers));
  byId('cells').replaceChildren(...cells.map(({ element }) => element));
  document.title = `${name} – Notebook`;
  isChanged = false;
  kernel?.socket.close();
  const id = await openSession(name);
  kernel = { id, socket: new KernelSocket(id, (status) => (byId('status').textContent = status)) };
  byId('status').textContent = 'connected';
  await showFiles();
}

async function showFiles(): Promise<void> {
  const options = (await listNotebooks()).map((name) => new Option(name, name, false, name === path));
  byId('file').replaceChildren(...options);
}

/** Shows why an action failed instead of failing silently. */
function attempt(action: () => Promise<void>): void {
  const problem = byId('problem');
  action().then(
    () => (problem.hidden = true),
    (error: unknown) => {
      problem.textContent = error instanceof Error ? error.message : String(error);
      problem.hidden = false;
    },
  );
}

function onClick(id: string, action: () => Promise<void>): void {
  byId(id).addEventListener('click', () => attempt(action));
}

onClick('new', async () => await open(await createNotebook()));
onClick('save', save);
onClick('run', async () => {
  const cell = current && cells.includes(current) ? current : cells[0];
  if (cell) await runCells([cell]);
});
onClick('run-all', async () => await runCells(cells));
onClick('interrupt', async () => {
  if (kernel) await interruptKernel(kernel.id);
});
onClick('restart', async () => {
  if (!kernel) return;
  // The kernel's own word comes later: until then the page must not look idle.
  byId('status').textContent = 'restarting';
  await restartKernel(kernel.id);
});
onClick('add-code', async () => addCell('code').focus());
onClick('add-text', async () => addCell('markdown').focus());
byId('cells').addEventListener('focusin', () => {
  current = cells.find(({ hasFocus }) => hasFocus) ?? null;
});
byId('file').addEventListener('change', ({ target }) => {
  if (target instanceof HTMLSelectElement) attempt(() => open(target.value));
});
document.addEventListener('keydown', (event) => {
  if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  attempt(save);
});
window.addEventListener('beforeunload', (event) => {
  if (isChanged) event.preventDefault();
});

attempt(async () => {
  const [first] = await listNotebooks();
  await open(first ?? (await createNotebook()));
});
