import { expect, it } from 'vitest';
import { rewriteImports } from './rewrite-imports.ts';

it.each([
  [`import 'x'`, `await __import("x");`],
  [`import a from "x";`, `const { default: a } = await __import("x");`],
  [`import * as a from 'x'`, `const a = await __import("x");`],
  [`import { a, b as c } from 'x'`, `const { a, b: c } = await __import("x");`],
  [`import a, { b as c } from 'x'`, `const { default: a,  b: c  } = await __import("x");`],
  [`const a = await import('x')`, `const a = await __import('x')`],
  [`a.import('x')`, `a.import('x')`],
  [`"import('x')" // import('x')`, `"import('x')" // import('x')`],
  ['`import("x")` + /* import("x") */ 1', '`import("x")` + /* import("x") */ 1'],
  [`important(1)`, `important(1)`],
])('rewrites %s', (code, expected) => {
  expect(rewriteImports(code)).toBe(expected);
});
