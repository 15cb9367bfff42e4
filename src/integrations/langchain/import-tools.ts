// `importLangChain`: existing LangChain tools into a Registry, behind the executor's stages. The tool object stays as it is:
// its own schema parses, its own function runs, its interrupts pass.

import { ToolMessage } from "@langchain/core/messages";
import { ToolInputParsingException, type StructuredToolInterface } from "@langchain/core/tools";
import {
  defineTool,
  Registry,
  ToolArgsInvalid,
  ToolError,
  ToolUsageError,
  type AnyToolSpec,
  type JsonSchema,
  type ToolOptions,
} from "../../index.js";
import { markReturnDirect } from "../langchain-core/return-direct.js";
import { toolOutput } from "../langchain-core/tool-output.js";
import { argumentsFor, inputSchemaOf } from "./own-schema.js";

type AnyOptions = ToolOptions<JsonSchema, unknown>;

/** What LangChain tools do not say about themselves: every option of a tool but what the tool object brings. */
export type ImportOptions = Partial<
  Omit<AnyOptions, "name" | "description" | "inputSchema" | "outputSchema" | "execute">
>;

/**
 * Register LangChain tools under their own names. Returns the specs in order.
 *
 * @throws ToolUsageError when a name is taken or a schema cannot be shown to a model
 * @example importLangChain(registry, [searchTool], { effects: "read" });
 */
export function importLangChain(
  registry: Registry,
  tools: readonly StructuredToolInterface[],
  options: ImportOptions = {},
): AnyToolSpec[] {
  const specs = tools.map((tool) => specOf(tool, options));
  tools.forEach((tool, index) => {
    const spec = specs[index];
    if (spec !== undefined && "returnDirect" in tool && tool.returnDirect === true) markReturnDirect(spec);
  });
  // All or none: a half-imported list cannot be imported again.
  const trial = new Registry(registry);
  for (const spec of specs) trial.add(spec);
  for (const spec of specs) registry.add(spec);
  return specs;
}

function specOf(tool: StructuredToolInterface, options: ImportOptions) {
  return defineTool({
    ...options,
    name: tool.name,
    description: tool.description,
    inputSchema: inputSchemaOf(tool),
    // The config LangChain needs (callbacks, checkpoint keys) follows the asynchronous flow by itself.
    execute: async (parsed, { callId, signal }): Promise<unknown> => {
      const args = argumentsFor(parsed);
      // LangChain would take such arguments for a whole call and run what lies inside: not what a reviewer was shown.
      if (args["type"] === "tool_call") throw refused(tool, "they look like a tool call");
      const input = hasArtifact(tool) ? { type: "tool_call", id: callId, name: tool.name, args } : args;
      try {
        return outputOf(await tool.invoke(input, { signal }), tool.name);
      } catch (error) {
        throw error instanceof ToolInputParsingException ? refused(tool, "its own schema refuses them") : error;
      }
    },
  });
}

/** LangChain's error would quote the arguments. */
function refused(tool: StructuredToolInterface, why: string): ToolArgsInvalid {
  return new ToolArgsInvalid(`arguments of tool "${tool.name}" are not valid: ${why}`, { tool: tool.name });
}

function hasArtifact(tool: StructuredToolInterface): boolean {
  return "responseFormat" in tool && tool.responseFormat === "content_and_artifact";
}

/**
 * Invoked with a whole call, a LangChain tool answers with a ToolMessage: the only way to its artifact. Some tools make one
 * themselves.
 */
function outputOf(answer: unknown, tool: string): unknown {
  if (isCommand(answer)) {
    throw new ToolUsageError(
      `${tool} returned a LangGraph Command: results pass the executor, state updates and hand-offs do not; return data, and update the state in a node`,
      { tool },
    );
  }
  if (!ToolMessage.isInstance(answer)) return answer;
  if (answer.status === "error") throw new ToolError(answer.text, { tool });
  return answer.artifact === undefined ? answer.content : toolOutput(answer.content, answer.artifact);
}

/** By LangGraph's own mark: this adapter does not know LangGraph. */
function isCommand(value: unknown): boolean {
  return typeof value === "object" && value !== null && "lg_name" in value && value.lg_name === "Command";
}
