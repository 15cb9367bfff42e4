// What the examples in docstrings may use without making it: the parts of a program that every reader has of his own.
// Not a part of the program that the compiler checks otherwise; scripts/support/docstring-examples.mjs adds it.
declare const registry: import("agent-adapter").Registry;
declare const executor: import("agent-adapter").Executor;
declare const secret: string;
declare const approval: import("agent-adapter").ApprovalPort;
declare const binding: string;
declare const history: import("agent-adapter").NeutralMessage[];
declare const interrupt: { readonly id: string; readonly value: unknown };
declare const signal: AbortSignal;
declare const shippingRate: import("agent-adapter").ToolSpec<{ item: string }, number, "shippingRate">;
declare const sendStatement: import("agent-adapter").ToolSpec<{ period: string }, string, "sendStatement">;
declare const order: import("agent-adapter/flow").Flow<
  { item: import("zod").ZodString; rate: import("zod").ZodDefault<import("zod").ZodNumber> },
  object,
  "rate" | "place"
>;
declare function askInTerminal(question: string): Promise<boolean>;
declare function transfer(to: string, amount: number): Promise<string>;
declare function show(request: import("agent-adapter").ApprovalRequest): void;

// Of LangGraph and LangChain.
declare const app: import("agent-adapter/langgraph").FlowApp<{ item: string; rate: number }, { item: string }> & {
  invoke(input: unknown, config: object): Promise<{ item: string; rate: number }>;
};
declare const State: import("@langchain/langgraph").AnnotationRoot<{
  items: import("@langchain/langgraph").LastValue<{ item: string }[]>;
  rates: import("@langchain/langgraph").BinaryOperatorAggregate<number[], number | number[]>;
  period: import("@langchain/langgraph").LastValue<string>;
  receipt: import("@langchain/langgraph").LastValue<string>;
}>;
declare const graph: { compile(options: { checkpointer: typeof checkpointer }): object };
declare const searchTool: import("@langchain/core/tools").StructuredToolInterface;
declare const config: { configurable: { thread_id: string } };
declare const checkpointer: import("@langchain/langgraph").BaseCheckpointSaver;
declare const model: import("@langchain/core/language_models/chat_models").BaseChatModel;

// Libraries under their usual names.
declare const z: typeof import("zod").z;
declare const StateGraph: typeof import("@langchain/langgraph").StateGraph;
declare const StateSchema: typeof import("@langchain/langgraph").StateSchema;
declare const MessagesAnnotation: typeof import("@langchain/langgraph").MessagesAnnotation;
declare const START: typeof import("@langchain/langgraph").START;
declare const PostgresSaver: typeof import("@langchain/langgraph-checkpoint-postgres").PostgresSaver;
declare const Command: typeof import("@langchain/langgraph").Command;
declare const Annotation: typeof import("@langchain/langgraph").Annotation;
declare const createAgent: typeof import("langchain").createAgent;
declare const createMiddleware: typeof import("langchain").createMiddleware;
declare const Pool: typeof import("pg").Pool;
declare function test(name: string, run: () => Promise<void>): void;
declare function expect(value: unknown): { toEqual(other: unknown): void; toBe(other: unknown): void };
