// `agentAdapterMiddleware`: every tool call of a `createAgent` agent through an executor. Owns which calls those are; how one
// is run, paused and answered is the langgraph adapter's.
//   A1  a call of a registered tool never reaches LangChain's own way of running it
//   A2  any other tool is refused by name, unless `unmanaged` says so
//   A3  nothing is read from the caller's `context` or `configurable` but ids and the principal

import { createMiddleware } from "langchain";
import { ToolUsageError, type Executor, type Registry } from "../../../index.js";
import { withDistinctIds } from "../../langchain-core/tool-messages.js";
import { hostedTools, type Durable } from "../../langgraph/index.js";

/** Which tools the middleware brings, and what it tells the model. */
export interface AgentAdapterOptions {
  /** The agent's tools. The middleware brings them: `createAgent` needs no `tools`. */
  readonly registry: Registry;
  /** Default: the registry's shared executor with a `LangGraphApproval()` under this process's random key. */
  readonly executor?: Executor;
  /**
   * Tools that other middleware or `createAgent({ tools })` brings and that run as LangChain runs them: no gate, no ledger, no
   * executor. Default: none, so that a call of any other tool is a `ToolUsageError` and nothing of it runs.
   */
  readonly unmanaged?: readonly string[];
  /** Tell the model in the ToolMessage when a reviewer changed the arguments. Default `true`. */
  readonly announceEdits?: boolean;
  /** How many characters of a result the model reads; the rest is left out, and the content says so. Default: all. */
  readonly maxResultChars?: number;
  /** When the results of nested calls are written beside the task. Default `"pause"`. */
  readonly durable?: Durable;
  /** A larger result stays in this process. Default 1 MiB. */
  readonly maxEntryBytes?: number;
}

/** `createAgent` takes calls of such names for structured output and never runs them. */
const NEVER_RUN = "extract-";

/**
 * Middleware for `createAgent` that brings the registry's tools and runs each of their calls through the executor. Requests of
 * parallel calls surface together; answer them by id, or with `resume` of `agent-adapter/langgraph`.
 *
 * Other middleware may stand before or after it: no retry middleware repeats a pause or makes a message of it.
 *
 * @throws ToolUsageError when an option cannot be used; from the agent: when a tool is called that is neither registered nor
 * `unmanaged`
 * @example
 * const agent = createAgent({ model, middleware: [agentAdapterMiddleware({ registry, executor })], checkpointer });
 */
export function agentAdapterMiddleware(options: AgentAdapterOptions) {
  const { registry, unmanaged = [], ...given } = options;
  const hosted = hostedTools(registry, given, "agentAdapterMiddleware");
  const outside = namesOutside(registry, unmanaged);
  const ours: ReadonlySet<unknown> = new Set(hosted.tools);
  return createMiddleware({
    name: "AgentAdapter",
    tools: hosted.tools,
    wrapModelCall: async (request, handler) => {
      // Before a token is spent; tools that come later are found when they are called.
      const stray = request.tools.filter(isClientTool).find((tool) => !outside.has(tool.name) && !ours.has(tool));
      if (stray !== undefined) return hosted.raise(strayTool(stray.name, registry));
      return withDistinctIds(await handler(request));
    },
    wrapToolCall: (request, handler) => {
      const { tool, toolCall } = request;
      if (outside.has(toolCall.name)) return handler(request);
      // A name that nobody knows is answered by the executor: the model reads `ToolNotFound`.
      if (tool === undefined || ours.has(tool)) return hosted.answer(toolCall);
      return hosted.raise(strayTool(toolCall.name, registry));
    },
  });
}

/** A tool that LangChain would run; tools that a provider runs on its own side are data. */
function isClientTool(tool: object): tool is { readonly name: string } {
  return "invoke" in tool && "name" in tool && typeof tool.name === "string";
}

function namesOutside(registry: Registry, unmanaged: readonly string[]): ReadonlySet<string> {
  if (!Array.isArray(unmanaged)) throw new ToolUsageError("agentAdapterMiddleware: unmanaged must be a list of names");
  const gone = unmanaged.find((name) => registry.has(name));
  if (gone !== undefined) {
    throw new ToolUsageError(
      `agentAdapterMiddleware: unmanaged names ${JSON.stringify(gone)}, which is registered: a registered tool never runs outside the executor`,
    );
  }
  const unreachable = registry.list().find(({ name }) => name.startsWith(NEVER_RUN));
  if (unreachable !== undefined) {
    throw new ToolUsageError(
      `agentAdapterMiddleware: createAgent never runs tools named ${NEVER_RUN}..., such as ${unreachable.name}`,
    );
  }
  return new Set(unmanaged);
}

function strayTool(name: string, registry: Registry): ToolUsageError {
  const quoted = JSON.stringify(name);
  if (registry.has(name)) {
    return new ToolUsageError(
      `the agent has a second tool ${quoted} beside the registry's: leave it out of \`tools\`, the middleware brings its own`,
      { tool: name },
    );
  }
  return new ToolUsageError(
    `the agent has a tool ${quoted} that the registry does not have: register it, or name it in \`unmanaged\``,
    { tool: name },
  );
}
