// The tool node people write today: LangGraph's own, with `interrupt()` inside the tool.

import { tool } from "@langchain/core/tools";
import { interrupt } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { ran, shippingRate } from "./shop.js";

// region: before
const sendStatementUnsafe = tool(
  ({ period }) => {
    // Whoever can resume the thread can say "yes".
    if (interrupt({ period }) !== "yes") return "cancelled";
    ran.push(`send_statement ${period}`);
    return `sent ${period}`;
  },
  {
    name: "send_statement",
    description: "Send the account statement for a period, after asking a human.",
    schema: z.object({ period: z.string() }),
  },
);

export const unsafeTools = new ToolNode([shippingRate, sendStatementUnsafe]);
// endregion
