// What the examples in docstrings may use without making it: the parts of a program that every reader has of his own, and
// libraries under their usual names.
// Not a part of the program that the compiler checks otherwise; scripts/support/docstring-examples.mjs adds it.
import type {
  ApprovalPort as Port,
  ApprovalRequest as Request,
  Executor as AnExecutor,
  NeutralMessage as Message,
  Registry as ARegistry,
  ToolSpec as Spec,
} from "agent-adapter";
import type { Flow as AFlow } from "agent-adapter/flow";
import type { FlowApp as AFlowApp } from "agent-adapter/langgraph";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type * as LangGraph from "@langchain/langgraph";
import type * as Savers from "@langchain/langgraph-checkpoint-postgres";
import type * as LangChain from "langchain";
import type * as Pg from "pg";
import type * as Zod from "zod";

interface App extends AFlowApp<{ item: string; rate: number }, { item: string }> {
  invoke(input: unknown, config: object): Promise<{ item: string; rate: number }>;
}

declare global {
  const registry: ARegistry;
  const executor: AnExecutor;
  const secret: string;
  const approval: Port;
  const binding: string;
  const history: Message[];
  const interrupt: { readonly id: string; readonly value: unknown };
  const signal: AbortSignal;
  const shippingRate: Spec<{ item: string }, number, "shippingRate">;
  const sendStatement: Spec<{ period: string }, string, "sendStatement">;
  const order: AFlow<{ item: Zod.ZodString; rate: Zod.ZodDefault<Zod.ZodNumber> }, object, "rate" | "place">;
  function askInTerminal(question: string): Promise<boolean>;
  function transfer(to: string, amount: number): Promise<string>;
  function show(request: Request): void;

  const app: App;
  const config: { configurable: { thread_id: string } };
  const checkpointer: LangGraph.BaseCheckpointSaver;
  const graph: { compile(options: { checkpointer: LangGraph.BaseCheckpointSaver }): object };
  const model: BaseChatModel;
  const searchTool: StructuredToolInterface;
  const State: LangGraph.AnnotationRoot<{
    items: LangGraph.LastValue<{ item: string }[]>;
    rates: LangGraph.BinaryOperatorAggregate<number[], number | number[]>;
    period: LangGraph.LastValue<string>;
    receipt: LangGraph.LastValue<string>;
  }>;

  const z: typeof Zod.z;
  const StateGraph: typeof LangGraph.StateGraph;
  const StateSchema: typeof LangGraph.StateSchema;
  const MessagesAnnotation: typeof LangGraph.MessagesAnnotation;
  const Annotation: typeof LangGraph.Annotation;
  const Command: typeof LangGraph.Command;
  const START: typeof LangGraph.START;
  const PostgresSaver: typeof Savers.PostgresSaver;
  const createAgent: typeof LangChain.createAgent;
  const createMiddleware: typeof LangChain.createMiddleware;
  const Pool: typeof Pg.Pool;
  function test(name: string, run: () => Promise<void>): void;
  function expect(value: unknown): { toEqual(other: unknown): void };
}
