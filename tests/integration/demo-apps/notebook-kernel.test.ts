import { KernelManager, ServerConnection, type Kernel, type KernelMessage } from '@jupyterlab/services';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type AppProcess } from '../../harness/demo-apps/app-process.ts';
import { runCell, startCell } from '../../harness/demo-apps/run-cell.ts';

const TOKEN = 'a secret of the test';
let app: AppProcess;
let kernels: KernelManager;

const settings = (url: string): ServerConnection.ISettings =>
  ServerConnection.makeSettings({
    baseUrl: `${url}/below/`,
    wsUrl: `${url.replace('http', 'ws')}/below/`,
    token: TOKEN,
  });

beforeAll(async () => {
  app = await startApp('notebook', { PARAM_ENGINE: 'javascript', PARAM_TOKEN: TOKEN, BASE_PATH: '/below' });
  kernels = new KernelManager({ serverSettings: settings(app.url) });
});
afterAll(async () => {
  kernels?.dispose();
  await app?.stop();
});

async function start(): Promise<Kernel.IKernelConnection> {
  const kernel = await kernels.startNew({ name: 'javascript' });
  await kernel.info;
  return kernel;
}

describe('the kernel, with the client of JupyterLab', () => {
  it('keeps what cells declare, also again, and awaits at the top level', async () => {
    const kernel = await start();
    expect((await kernel.info).language_info.name).toBe('javascript');
    expect(
      await runCell(kernel, 'let a = 1; const b = 2; class C {}; function f() { return a + b }; f()'),
    ).toMatchObject({
      status: 'ok',
      count: 1,
      result: '3',
      types: ['status', 'execute_input', 'execute_result', 'status'],
    });
    expect(
      await runCell(kernel, 'let a = await new Promise((done) => setTimeout(done, 20, 40)); a + b'),
    ).toMatchObject({ count: 2, result: '42' });
    expect(await runCell(kernel, 'undefined')).toMatchObject({ count: 3, result: null });
    expect(await runCell(kernel, '({ list: [1, 2n], text: "ü" })')).toMatchObject({
      result: "{ list: [ 1, 2n ], text: 'ü' }",
    });
    await kernel.shutdown();
  });

  it('imports modules, and finds those of the notebook folder', async () => {
    const kernel = await start();
    const code = `import os, { EOL as newline } from 'node:os'
      import * as path from "node:path";
      const { readFile } = await import('node:fs/promises');
      [typeof os.cpus, newline, path.sep, typeof readFile, typeof require('node:url').parse, 'import("x")']`;
    expect(await runCell(kernel, code)).toMatchObject({
      status: 'ok',
      result: `[ 'function', '\\n', '/', 'function', 'function', 'import("x")' ]`,
    });
    await kernel.shutdown();
  });

  it('shows streams while a cell runs, in the order in which it wrote', async () => {
    const kernel = await start();
    const cell = startCell(
      kernel,
      `console.log('one'); console.error('two'); process.stdout.write('three');
       const until = Date.now() + 60000; while (Date.now() < until);`,
    );
    await expect
      .poll(() => cell.seen.streams)
      .toEqual([
        ['stdout', 'one\n'],
        ['stderr', 'two\n'],
        ['stdout', 'three'],
      ]);
    await kernel.interrupt();
    expect((await cell.ended).status).toBe('error');
    await kernel.shutdown();
  });

  it('loses no line of a cell that prints 200,000', async () => {
    const kernel = await start();
    const { stdout } = await runCell(kernel, 'for (let i = 0; i < 200000; i++) console.log(i); 0');
    const lines = stdout.split('\n');
    expect(lines).toHaveLength(200_001);
    expect(lines.findIndex((line, index) => index < 200_000 && line !== String(index))).toBe(-1);
    await kernel.shutdown();
  });

  it('shows the output of programs and of timers under the cell', async () => {
    const kernel = await start();
    const code = `await new Promise((done) => require('node:child_process').spawn('echo', ['from echo'], { stdio: 'inherit' }).on('close', () => setTimeout(done, 200)))`;
    expect((await runCell(kernel, code)).stdout).toBe('from echo\n');
    await kernel.shutdown();
  });

  it('displays rich data, and replaces it', async () => {
    const kernel = await start();
    const { displays } = await runCell(
      kernel,
      `await display.html('<b>bold</b>'); await display.png(Buffer.from('png'));
       await display({ x: 1 }, { id: 'd' }); await display({ x: 2 }, { id: 'd', update: true });
       await display({ [display.symbol]: () => ({ 'text/markdown': '# Title' }) })`,
    );
    expect(displays).toEqual([
      ['display_data', { 'text/html': '<b>bold</b>' }],
      ['display_data', { 'image/png': Buffer.from('png').toString('base64') }],
      ['display_data', { 'text/plain': '{ x: 1 }' }],
      ['update_display_data', { 'text/plain': '{ x: 2 }' }],
      ['display_data', expect.objectContaining({ 'text/markdown': '# Title' })],
    ]);
    await kernel.shutdown();
  });

  it('tells errors with the frames of the cells alone, and runs on', async () => {
    const kernel = await start();
    await runCell(kernel, 'function inner() { throw new RangeError("too far", { cause: 7 }) }');
    const { status, reply } = await runCell(kernel, 'const outer = () => inner();\nouter()');
    expect(status).toBe('error');
    expect(reply).toMatchObject({ ename: 'RangeError', evalue: 'too far' });
    expect(reply).toMatchObject({
      traceback: [
        'RangeError: too far',
        expect.stringContaining('inner (cell[1]:1:'),
        expect.stringContaining('outer (cell[2]:1:'),
        expect.stringContaining('cell[2]:2:1'),
        'Caused by: 7',
      ],
    });
    expect((await runCell(kernel, 'let = ;')).reply).toMatchObject({ ename: 'SyntaxError' });
    expect((await runCell(kernel, 'throw 5')).reply).toMatchObject({ ename: 'Thrown', evalue: '5' });
    expect((await runCell(kernel, 'await Promise.reject(new Error("late"))')).reply).toMatchObject({
      evalue: 'late',
    });
    const { stderr } = await runCell(
      kernel,
      'setTimeout(() => { throw new Error("from a timer") }, 1); Promise.reject(new Error("unhandled")); await new Promise((done) => setTimeout(done, 200))',
    );
    expect(stderr).toContain('from a timer');
    expect(stderr).toContain('unhandled');
    expect((await runCell(kernel, '1 + 1')).result).toBe('2');
    await kernel.shutdown();
  });

  it('aborts cells that wait behind one that failed', async () => {
    const kernel = await start();
    const cells = ['await new Promise((done) => setTimeout(done, 300)); throw new Error("x")', '1', '2'].map(
      (code) => startCell(kernel, code).ended,
    );
    expect((await Promise.all(cells)).map(({ status }) => status)).toEqual(['error', 'aborted', 'aborted']);
    expect((await runCell(kernel, '3')).result).toBe('3');
    await kernel.shutdown();
  });

  it.each([
    ['a loop', 'while (true) {}'],
    ['a loop that catches everything', 'for (;;) { try { for (;;); } catch {} finally { } }'],
    ['a loop after a wait', 'await new Promise((done) => setTimeout(done, 10)); while (true) {}'],
    ['a loop of microtasks', 'for (;;) await 1'],
    ['a promise that never settles', 'await new Promise(() => {})'],
    ['a cell that prints without end', 'for (;;) console.log("again")'],
  ])('interrupts %s, and keeps what was declared', async (_name, code) => {
    const kernel = await start();
    await runCell(kernel, 'let kept = 7');
    const cell = startCell(kernel, `console.log('begun')\n${code}`);
    await expect.poll(() => cell.seen.stdout).toContain('begun');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await kernel.interrupt();
    expect((await cell.ended).reply).toMatchObject({ status: 'error', ename: 'Interrupted' });
    expect((await runCell(kernel, 'kept')).result).toBe('7');
    await kernel.shutdown();
  });

  it('survives the interrupt of a timer that loops', async () => {
    const kernel = await start();
    await runCell(kernel, 'let kept = 8; setTimeout(() => { for (;;); }, 1); 0');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await kernel.interrupt();
    expect((await runCell(kernel, 'kept')).result).toBe('8');
    await kernel.shutdown();
  });

  it('restarts with nothing left, even in a loop', async () => {
    const kernel = await start();
    await runCell(kernel, 'let old = 1');
    startCell(kernel, 'while (true) {}').ended.catch(() => undefined);
    await kernel.restart();
    expect(await runCell(kernel, 'typeof old')).toMatchObject({ result: "'undefined'", count: 1 });
    await kernel.shutdown();
  });

  it('starts again when its process ends', async () => {
    const kernel = await start();
    const statuses: string[] = [];
    kernel.statusChanged.connect((_, status) => statuses.push(status));
    startCell(kernel, 'process.exit(3)').ended.catch(() => undefined);
    await expect.poll(() => statuses).toContain('autorestarting');
    await expect.poll(() => kernel.status).toBe('idle');
    expect((await runCell(kernel, '"alive"')).result).toBe("'alive'");
    await kernel.shutdown();
  });

  it('does not harm the server with what it writes to the descriptor of the kernel', async () => {
    const kernel = await start();
    const code = `const { writeSync } = require('node:fs');
      for (const line of ['garbage', '{"type":"stream"}', '{"type":"done","id":1,"error":7}', '[]', 'null', '{"type":"result","data":5}'])
        writeSync(3, line + '\\n');
      "still here"`;
    expect((await runCell(kernel, code)).result).toBe("'still here'");
    await kernel.shutdown();
  });

  it('completes names without running anything', async () => {
    const kernel = await start();
    await runCell(
      kernel,
      'const table = { rows: 1, rownames: [], get danger() { globalThis.harmed = true; return {} } }; let rocket = "🚀"',
    );
    const complete = async (code: string, cursor_pos = code.length) =>
      (await kernel.requestComplete({ code, cursor_pos })).content;
    expect(await complete('x = table.ro')).toMatchObject({
      matches: ['rownames', 'rows'],
      cursor_start: 10,
      cursor_end: 12,
    });
    expect(await complete('ro')).toMatchObject({ matches: expect.arrayContaining(['rocket']) });
    // The protocol counts characters, not units of 16 bits.
    expect(await complete('"🚀" + tab', 8)).toMatchObject({
      matches: ['table'],
      cursor_start: 6,
      cursor_end: 8,
    });
    await complete('table.danger.x');
    expect((await runCell(kernel, 'typeof harmed')).result).toBe("'undefined'");
    await kernel.shutdown();
  });

  it('explains names and judges whether code is complete', async () => {
    const kernel = await start();
    await runCell(kernel, 'function area(w, h) { return w * h }');
    const found = await kernel.requestInspect({ code: 'area(2, 3)', cursor_pos: 2, detail_level: 0 });
    expect(found.content).toMatchObject({
      found: true,
      data: { 'text/plain': expect.stringContaining('area(w, h) { return w * h }') },
    });
    const missing = await kernel.requestInspect({ code: 'nothing', cursor_pos: 2, detail_level: 0 });
    expect(missing.content).toMatchObject({ found: false });
    const judge = async (code: string) => (await kernel.requestIsComplete({ code })).content.status;
    expect(await judge('1 + 1')).toBe('complete');
    expect(await judge('if (true) {')).toBe('incomplete');
    expect(await judge('const a = await fetch("x")')).toBe('complete');
    expect(await judge('let = ]')).toBe('invalid');
    await kernel.shutdown();
  });

  it('keeps messages for a client that connects again, and for no other', async () => {
    const kernel = await start();
    const cell = startCell(
      kernel,
      'console.log("before"); await new Promise((done) => setTimeout(done, 700)); console.log("after"); 99',
    );
    await expect.poll(() => cell.seen.stdout).toContain('before');
    await kernel.reconnect();
    const ran = await cell.ended;
    expect(ran).toMatchObject({ status: 'ok', result: '99' });
    expect(ran.stdout).toBe('before\nafter\n');
    await kernel.shutdown();
  });

  it('lets two clients watch one kernel', async () => {
    const kernel = await start();
    const second = kernels.connectTo({ model: kernel.model });
    await second.info;
    const seen: string[] = [];
    second.anyMessage.connect((_, { msg }) => {
      if (msg.header.msg_type === 'stream') seen.push((msg as KernelMessage.IStreamMsg).content.text);
    });
    await runCell(kernel, 'console.log("for both")');
    await expect.poll(() => seen).toEqual(['for both\n']);
    second.dispose();
    await kernel.shutdown();
  });

  it('tells its last activity', async () => {
    const kernel = await start();
    await runCell(kernel, '1');
    const ask = async (path: string) =>
      await (
        await fetch(`${app.url}/below/api/${path}`, { headers: { authorization: `token ${TOKEN}` } })
      ).json();
    const before = await ask(`kernels/${kernel.id}`);
    expect(before).toMatchObject({ execution_state: 'idle', connections: 1, name: 'javascript' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await runCell(kernel, '2');
    const after = await ask(`kernels/${kernel.id}`);
    expect(Date.parse(after.last_activity)).toBeGreaterThan(Date.parse(before.last_activity));
    const status = await ask('status');
    expect(status).toMatchObject({ kernels: 1, connections: 1 });
    expect(Date.parse(status.last_activity)).toBeGreaterThanOrEqual(Date.parse(after.last_activity));
    await kernel.shutdown();
  });
});
