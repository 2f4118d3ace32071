import { fieldsOf } from '../../fields-of.ts';
import { textOf } from '../../text-of.ts';
import { readNotebookFile, type NotebookFile } from './notebook-file.ts';

/** Addresses are relative to the page, so that it works at the root and below a base path. */
async function callServer(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(path, {
    method,
    ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
  });
  const fields = fieldsOf(await readAnswer(answer));
  if (answer.ok) return fields;
  throw new Error(textOf(fields['message']) || `The server answered ${answer.status}`);
}

/** Some answers have no body. */
async function readAnswer(answer: Response): Promise<unknown> {
  try {
    const body: unknown = await answer.json();
    return body;
  } catch {
    return null;
  }
}

const encode = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

export async function listNotebooks(): Promise<string[]> {
  const { content } = await callServer('GET', 'api/contents');
  const files: unknown[] = Array.isArray(content) ? content : [];
  return files
    .map(fieldsOf)
    .filter(({ type }) => type === 'notebook')
    .map(({ path }) => textOf(path));
}

export async function readNotebook(path: string): Promise<NotebookFile> {
  const { content } = await callServer('GET', `api/contents/${encode(path)}`);
  return readNotebookFile(content);
}

export async function createNotebook(): Promise<string> {
  return textOf((await callServer('POST', 'api/contents', { type: 'notebook' }))['path']);
}

export async function saveNotebook(path: string, content: object): Promise<void> {
  await callServer('PUT', `api/contents/${encode(path)}`, { type: 'notebook', format: 'json', content });
}

/** The kernel of this notebook, started if it has none. */
export async function openSession(path: string): Promise<string> {
  const body = { path, name: path, type: 'notebook', kernel: { name: 'javascript' } };
  const { kernel } = await callServer('POST', 'api/sessions', body);
  return textOf(fieldsOf(kernel)['id']);
}

export async function readKernelState(id: string): Promise<string> {
  return textOf((await callServer('GET', `api/kernels/${id}`))['execution_state']);
}

export async function interruptKernel(id: string): Promise<void> {
  await callServer('POST', `api/kernels/${id}/interrupt`);
}

export async function restartKernel(id: string): Promise<void> {
  await callServer('POST', `api/kernels/${id}/restart`);
}
