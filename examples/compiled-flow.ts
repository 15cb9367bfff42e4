// A flow as a LangGraph graph: `npx tsx --conditions=agent-adapter-source examples/compiled-flow.ts`.

import { compiledFlow } from "./support/statement-flow.js";
import { finish } from "./support/page.js";

await compiledFlow();
finish();
