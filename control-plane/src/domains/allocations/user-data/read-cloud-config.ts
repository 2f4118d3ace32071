import { Composer, CST, isMap, isScalar, Lexer, Parser, visit, type Document, type YAMLMap } from 'yaml';

/** Far beyond what cloud-config needs. The time to read a text grows with these, not with its bytes. */
const MAX_TOKENS = 6_000;
const MAX_DEPTH = 64;
const MAX_ALIASES = 10;

/** Why a text is refused. It may contain a secret, so no value is repeated. */
export class CloudConfigError extends Error {}

/** The keys of the mapping that the text is. Aliases are never expanded, and every step is linear in the tokens. */
export function readCloudConfigKeys(text: string): string[] {
  const document = compose(readTokens(text));
  const flaw = document.errors[0] ?? document.warnings[0];
  if (flaw)
    throw new CloudConfigError(`It is not YAML that can be read: ${flaw.code}, at character ${flaw.pos[0]}.`);
  checkNodes(document);
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return [];
  if (!isMap(contents)) throw new CloudConfigError('It must be a mapping of keys.');
  return contents.items.map(({ key }) => nameOf(key));
}

function readTokens(text: string): CST.Token[] {
  const parser = new Parser();
  const read: CST.Token[] = [];
  let tokens = 0;
  let aliases = 0;
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > MAX_TOKENS) throw new CloudConfigError(`It has more than ${MAX_TOKENS} tokens of YAML.`);
    read.push(...parser.next(token));
    if (parser.stack.length > MAX_DEPTH)
      throw new CloudConfigError(`It nests more than ${MAX_DEPTH} levels deep.`);
    if (CST.tokenType(token) === 'alias') aliases += 1;
    if (aliases > MAX_ALIASES) throw new CloudConfigError(`It has more than ${MAX_ALIASES} aliases.`);
  }
  read.push(...parser.end());
  return read;
}

/** The library would compare every key with every other; `checkNodes` does it instead. */
function compose(tokens: CST.Token[]): Document {
  const composer = new Composer({
    uniqueKeys: false,
    schema: 'core',
    prettyErrors: false,
  });
  const [document, ...others] = composer.compose(tokens, true);
  if (!document || others.length > 0) throw new CloudConfigError('It must be one document of YAML.');
  return document;
}

function checkNodes(document: Document): void {
  visit(document, {
    Alias: (_, alias) => {
      if (!alias.resolve(document)) throw new CloudConfigError('One of its aliases stands for nothing.');
    },
    Map: (_, map) => checkKeys(map),
  });
}

function checkKeys({ items }: YAMLMap): void {
  const seen = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    if (seen.has(key.value)) throw new CloudConfigError('It has a key twice in one mapping.');
    seen.add(key.value);
  }
}

function nameOf(key: unknown): string {
  const name = isScalar(key) ? String(key.value) : '';
  return /^[\w.<-]{1,64}$/.test(name) ? name : 'a key with an unusual name';
}
