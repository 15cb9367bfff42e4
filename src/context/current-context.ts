// A value that follows the asynchronous flow of control. The one place that knows AsyncLocalStorage.

import { AsyncLocalStorage } from "node:async_hooks";

export interface ContextStore<T> {
  /** The value of the innermost `enter` around the caller. */
  readonly current: () => T | undefined;
  readonly enter: <R>(value: T, body: () => R) => R;
}

export function contextStore<T>(): ContextStore<T> {
  const storage = new AsyncLocalStorage<T>();
  return {
    current: () => storage.getStore(),
    enter: (value, body) => storage.run(value, body),
  };
}
