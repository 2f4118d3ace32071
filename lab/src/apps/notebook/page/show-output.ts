import { fieldsOf } from '../../fields-of.ts';
import { renderMarkdown } from './render-markdown.ts';
import { joinLines, type Output } from './notebook-file.ts';

/** Shows an output. Text stays text; HTML goes into a frame without scripts and without this page's origin. */
export function showOutput(output: Output): HTMLElement {
  if (output.output_type === 'stream')
    return preformatted(joinLines(output['text']), joinLines(output['name']));
  if (output.output_type === 'error') {
    const { traceback } = output;
    return preformatted(Array.isArray(traceback) ? traceback.join('\n') : '', 'error');
  }
  const data = fieldsOf(output['data']);
  for (const type of ['image/png', 'image/jpeg'])
    if (data[type]) return image(`data:${type};base64,${joinLines(data[type])}`);
  if (data['image/svg+xml'])
    return image(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(joinLines(data['image/svg+xml']))}`);
  if (data['text/html']) return frame(joinLines(data['text/html']));
  if (data['text/markdown']) {
    const block = document.createElement('div');
    block.append(...renderMarkdown(joinLines(data['text/markdown'])));
    return block;
  }
  if (data['application/json']) return preformatted(JSON.stringify(data['application/json'], null, 2), '');
  return preformatted(joinLines(data['text/plain']), '');
}

function preformatted(text: string, name: string): HTMLElement {
  const block = document.createElement('pre');
  block.className = name;
  block.textContent = text;
  return block;
}

function image(source: string): HTMLElement {
  const element = document.createElement('img');
  element.src = source;
  element.alt = 'Output of the cell';
  return element;
}

function frame(html: string): HTMLElement {
  const element = document.createElement('iframe');
  element.sandbox.value = '';
  element.title = 'Output of the cell';
  element.srcdoc = html;
  return element;
}
