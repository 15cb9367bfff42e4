// A "new process" within one: everything the package remembers about this one is thrown away.

/** Forget finished and running calls, asks and used answers, as a restart does. The per-process random key stays. */
export function forgetProcess(): void {
  Reflect.deleteProperty(globalThis, Symbol.for("agent-adapter/process/v1"));
}
