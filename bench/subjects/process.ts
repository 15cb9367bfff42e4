// A "new process" within one, as the tests have it: what the package remembers about this one is thrown away. And what it holds.

const KEY = Symbol.for("agent-adapter/process/v1");

export function forgetProcess(): void {
  Reflect.deleteProperty(globalThis, KEY);
}

/** How many task runs with calls it remembers: those that a resume in this process finds again. */
export function rememberedTasks(): number {
  const state: unknown = Reflect.get(globalThis, KEY);
  const tasks: unknown = typeof state === "object" && state !== null && "tasks" in state ? state.tasks : undefined;
  if (!(tasks instanceof Map)) return 0;
  return [...tasks.values()].filter(({ calls }: { readonly calls: ReadonlyMap<string, unknown> }) => calls.size > 0)
    .length;
}
