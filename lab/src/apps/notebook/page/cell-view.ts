import type { KernelReply, KernelSocket } from './kernel-socket.ts';
import { joinLines, type CellData, type Output } from './notebook-file.ts';
import { renderMarkdown } from './render-markdown.ts';
import { showOutput } from './show-output.ts';

export interface CellHandlers {
  onRun(cell: CellView): void;
  onRemove(cell: CellView): void;
  onChange(): void;
}

/** One cell on the page. */
export class CellView {
  readonly element = document.createElement('section');
  readonly #data: CellData;
  readonly #count = document.createElement('span');
  readonly #source = document.createElement('textarea');
  readonly #rendered = document.createElement('div');
  readonly #outputs = document.createElement('div');
  #clearNext = false;

  constructor(data: CellData, handlers: CellHandlers) {
    this.#data = data;
    this.element.className = 'cell';
    this.#count.className = 'count';
    this.#rendered.className = 'rendered';
    this.#outputs.className = 'outputs';
    this.#source.value = data.source;
    this.#source.spellcheck = data.cell_type !== 'code';
    this.#source.setAttribute('aria-label', data.cell_type === 'code' ? 'Code' : 'Text');
    this.#source.addEventListener('input', () => handlers.onChange());
    this.#source.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      handlers.onRun(this);
    });
    this.#rendered.addEventListener('dblclick', () => this.focus());
    const remove = document.createElement('button');
    remove.textContent = '×';
    remove.setAttribute('aria-label', 'Remove the cell');
    remove.addEventListener('click', () => handlers.onRemove(this));
    this.element.append(this.#count, this.#source, remove, this.#rendered, this.#outputs);
    this.#showCount();
    for (const output of data.outputs) this.#outputs.append(showOutput(output));
    if (data.cell_type === 'markdown' && this.#source.value !== '') this.#render();
  }

  get hasFocus(): boolean {
    return this.element.contains(document.activeElement);
  }

  get data(): CellData {
    return { ...this.#data, source: this.#source.value };
  }

  focus(): void {
    this.#source.hidden = false;
    this.#rendered.replaceChildren();
    this.#source.focus();
  }

  /** Runs code in the kernel; shows text. */
  async run(kernel: KernelSocket): Promise<void> {
    if (this.#data.cell_type !== 'code') return this.#render();
    this.#data.outputs = [];
    this.#outputs.replaceChildren();
    this.#count.textContent = '[*]';
    await kernel.execute(this.#source.value, (reply) => this.#onReply(reply));
    this.#showCount();
  }

  #render(): void {
    if (this.#data.cell_type !== 'markdown') return;
    this.#rendered.replaceChildren(...renderMarkdown(this.#source.value));
    this.#source.hidden = true;
  }

  #onReply({ type, content }: KernelReply): void {
    const count = content['execution_count'];
    if (typeof count === 'number') this.#data.execution_count = count;
    if (type === 'clear_output') {
      if (content['wait'] === true) this.#clearNext = true;
      else this.#clear();
    } else if (type === 'stream') {
      this.#add({ output_type: 'stream', name: content['name'], text: content['text'] });
    } else if (type === 'display_data' || type === 'execute_result') {
      const { data, metadata } = content;
      this.#add({
        output_type: type,
        data,
        metadata,
        ...(type === 'execute_result' ? { execution_count: count } : {}),
      });
    } else if (type === 'error') {
      const { ename, evalue, traceback } = content;
      this.#add({ output_type: 'error', ename, evalue, traceback });
    }
  }

  #add(output: Output): void {
    if (this.#clearNext) this.#clear();
    const { outputs } = this.#data;
    const last = outputs.at(-1);
    if (
      output.output_type === 'stream' &&
      last?.output_type === 'stream' &&
      last['name'] === output['name']
    ) {
      last['text'] = joinLines(last['text']) + joinLines(output['text']);
      this.#outputs.lastElementChild?.append(joinLines(output['text']));
      return;
    }
    outputs.push(output);
    this.#outputs.append(showOutput(output));
  }

  #clear(): void {
    this.#clearNext = false;
    this.#data.outputs = [];
    this.#outputs.replaceChildren();
  }

  #showCount(): void {
    this.#count.textContent = this.#data.cell_type === 'code' ? `[${this.#data.execution_count ?? ' '}]` : '';
  }
}
