import { Session, type Runtime } from 'node:inspector';

export type Outcome = { value: unknown } | { thrown: unknown } | { interrupted: true };

const TAKE = Symbol('take');

/**
 * Evaluates code as the console of a debugger does: `let` and `const` stay and may be declared again, and `await` works
 * at the top level.
 */
export class Evaluator {
  readonly #session = new Session();
  readonly #holder: string;
  #taken: unknown;
  #interrupt: (() => void) | null = null;

  constructor() {
    this.#session.connect();
    Reflect.set(globalThis, TAKE, (value: unknown) => void (this.#taken = value));
    const description = TAKE.description ?? '';
    const expression = `globalThis[Object.getOwnPropertySymbols(globalThis).find((s) => s.description === '${description}')]`;
    let holder = '';
    this.#session.post('Runtime.evaluate', { expression }, (_error, answer) => {
      holder = answer.result.objectId ?? '';
    });
    Reflect.deleteProperty(globalThis, TAKE);
    this.#holder = holder;
  }

  evaluate(code: string): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#interrupt = () => resolve({ interrupted: true });
      const options = { expression: code, replMode: true, awaitPromise: true, userGesture: true };
      this.#session.post(
        'Runtime.evaluate',
        options,
        (error: Error | null, answer: Runtime.EvaluateReturnType) => {
          // The debugger fails the request itself only when its execution was terminated.
          if (error) return resolve({ interrupted: true });
          const { exceptionDetails, result } = answer;
          resolve(
            exceptionDetails
              ? { thrown: this.#take(exceptionDetails.exception ?? result) }
              : { value: this.#take(result) },
          );
        },
      );
    });
  }

  /** After the thread was freed: a cell that waits, or whose rest was thrown away, ends now. */
  interrupt(): void {
    this.#interrupt?.();
  }

  /** The value of an expression, or undefined where its evaluation would change anything. */
  peek(expression: string): unknown {
    let value: unknown;
    const options = { expression, throwOnSideEffect: true, timeout: 500 };
    this.#session.post(
      'Runtime.evaluate',
      options,
      (error: Error | null, answer: Runtime.EvaluateReturnType) => {
        if (!error && !answer.exceptionDetails) value = this.#take(answer.result);
      },
    );
    return value;
  }

  /** Names that cells declared with `let`, `const` and `class`. */
  declaredNames(): string[] {
    let names: string[] = [];
    this.#session.post('Runtime.globalLexicalScopeNames', {}, (error, answer) => {
      if (!error) names = [...new Set(answer.names)];
    });
    return names;
  }

  /** The debugger speaks of remote objects; this is the object itself. */
  #take({ objectId, value, unserializableValue, type }: Runtime.RemoteObject): unknown {
    if (type === 'undefined') return undefined;
    const argument = objectId ? { objectId } : unserializableValue ? { unserializableValue } : { value };
    this.#taken = undefined;
    this.#session.post('Runtime.callFunctionOn', {
      objectId: this.#holder,
      functionDeclaration: 'function (value) { this(value); }',
      arguments: [argument],
    });
    if (objectId) this.#session.post('Runtime.releaseObject', { objectId });
    return this.#taken;
  }
}
