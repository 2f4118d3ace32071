import { fieldsOf } from '../../fields-of.ts';

/** An output, as nbformat 4 has it. */
export type Output = Record<string, unknown> & { output_type: string };

/** A cell, as nbformat 4 has it. Fields that this page does not know stay as they are. */
export type CellData = Record<string, unknown> & {
  cell_type: string;
  source: string;
  outputs: Output[];
  execution_count: number | null;
};

export type NotebookFile = Record<string, unknown> & { cells: CellData[] };

export function emptyNotebook(): NotebookFile {
  return {
    cells: [newCell('code')],
    metadata: {
      kernelspec: { name: 'javascript', display_name: 'JavaScript (Node)', language: 'javascript' },
      language_info: { name: 'javascript' },
    },
    nbformat: 4,
    nbformat_minor: 5,
  };
}

export function newCell(type: 'code' | 'markdown'): CellData {
  const id = crypto.randomUUID().slice(0, 8);
  return { id, cell_type: type, source: '', metadata: {}, outputs: [], execution_count: null };
}

export function readNotebookFile(content: unknown): NotebookFile {
  const fields = fieldsOf(content);
  const cells: unknown[] = Array.isArray(fields['cells']) ? fields['cells'] : [];
  return { ...fields, cells: cells.map(readCell) };
}

/** Only code has outputs and a count in the file. */
export function writeNotebookFile(file: NotebookFile, cells: readonly CellData[]): object {
  const kept = cells.map((cell) => {
    if (cell.cell_type === 'code') return cell;
    const { outputs: _outputs, execution_count: _count, ...text } = cell;
    return text;
  });
  return { ...file, cells: kept };
}

function readCell(cell: unknown): CellData {
  const fields = fieldsOf(cell);
  const outputs: unknown[] = Array.isArray(fields['outputs']) ? fields['outputs'] : [];
  const count = fields['execution_count'];
  return {
    ...fields,
    cell_type: joinLines(fields['cell_type']),
    source: joinLines(fields['source']),
    outputs: outputs
      .map(fieldsOf)
      .map((output) => ({ ...output, output_type: joinLines(output['output_type']) })),
    execution_count: typeof count === 'number' ? count : null,
  };
}

/** Notebooks keep text as one string or as its lines. */
export function joinLines(text: unknown): string {
  if (Array.isArray(text)) return text.join('');
  return typeof text === 'string' ? text : '';
}
