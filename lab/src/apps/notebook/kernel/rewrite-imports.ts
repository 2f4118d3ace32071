/** Evaluated code cannot import modules, so its imports become calls of this function. */
export const IMPORT = '__import';

const STATIC =
  /^[ \t]*import[ \t]+(?:(?<names>[\w$*{}\s,]+?)[ \t\n]+from[ \t]*)?(?<quote>['"])(?<module>[^'"\n]+)\k<quote>[ \t]*;?/gm;
const STRINGS_AND_COMMENTS =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<![\w$.])import(?=\s*\()/g;

/** `import` statements and `import()` outside of strings and comments. */
export function rewriteImports(code: string): string {
  if (!code.includes('import')) return code;
  return code
    .replaceAll(STATIC, (_all, names: string | undefined, _quote, module: string) => {
      const loaded = `await ${IMPORT}(${JSON.stringify(module)})`;
      return names === undefined ? `${loaded};` : bindNames(names, loaded);
    })
    .replaceAll(STRINGS_AND_COMMENTS, (part) => (part === 'import' ? IMPORT : part));
}

/** `x`, `* as x`, `{ a, b as c }`, `x, { a }`. */
function bindNames(names: string, loaded: string): string {
  const [, first = '', braces] = /^\s*([^{]*?)\s*,?\s*(\{[^}]*\})?\s*$/.exec(names) ?? [];
  const named = braces?.replaceAll(/\s+as\s+/g, ': ');
  const whole = /^\*\s*as\s+(\S+)$/.exec(first)?.[1];
  if (whole) return `const ${whole} = ${loaded};`;
  if (first === '') return `const ${named} = ${loaded};`;
  const rest = named ? `, ${named.slice(1, -1)}` : '';
  return `const { default: ${first}${rest} } = ${loaded};`;
}
