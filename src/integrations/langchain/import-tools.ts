// `importLangChain`: existing LangChain tools into a Registry, behind the executor's stages. The tool object stays as it is:
// its own schema parses, its own function runs, its interrupts pass.

import { ToolMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import {
  defineTool,
  ToolUsageError,
  type AnyToolSpec,
  type JsonSchema,
  type Registry,
  type ToolOptions,
} from "../../index.js";
import { toolOutput } from "../langchain-core/tool-output.js";

type AnyOptions = ToolOptions<JsonSchema, unknown>;

/** What LangChain tools do not say about themselves: every option of a tool but what the tool object brings. */
export type ImportOptions = Partial<
  Omit<AnyOptions, "name" | "description" | "inputSchema" | "outputSchema" | "execute">
>;

/**
 * Register LangChain tools under their own names. Returns the specs in order.
 *
 * @throws ToolUsageError when a name is taken or a schema cannot be shown to a model
 * @example importLangChain(registry, [shippingRate], { effects: "read" });
 */
export function importLangChain(
  registry: Registry,
  tools: readonly StructuredToolInterface[],
  options: ImportOptions = {},
): AnyToolSpec[] {
  const specs = tools.map((tool) => specOf(tool, options));
  for (const spec of specs) registry.add(spec);
  return specs;
}

function specOf(tool: StructuredToolInterface, options: ImportOptions) {
  return defineTool({
    ...options,
    name: tool.name,
    description: tool.description,
    inputSchema: jsonSchemaOf(tool),
    // The config LangChain needs (callbacks, checkpoint keys) follows the asynchronous flow by itself.
    execute: async (args, { callId, signal }): Promise<unknown> => {
      if (!hasArtifact(tool)) return tool.invoke(args, { signal });
      return outputOf(await tool.invoke({ type: "tool_call", id: callId, name: tool.name, args }, { signal }));
    },
  });
}

function hasArtifact(tool: StructuredToolInterface): boolean {
  return "responseFormat" in tool && tool.responseFormat === "content_and_artifact";
}

/** Invoked with a whole call, a LangChain tool answers with a ToolMessage: the only way to its artifact. */
function outputOf(answer: unknown): unknown {
  if (!ToolMessage.isInstance(answer)) return answer;
  return toolOutput(answer.content, answer.artifact);
}

function jsonSchemaOf(tool: StructuredToolInterface) {
  try {
    return { ...toJsonSchema(tool.schema) };
  } catch (cause) {
    throw new ToolUsageError(`${tool.name}: its schema cannot be turned into JSON Schema`, { tool: tool.name, cause });
  }
}
