import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (file: string) => fileURLToPath(new URL(`../../src/${file}`, import.meta.url));

// agent-adapter from source, on the LangChain packages of this folder: one copy of each, as in a program.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^agent-adapter$/, replacement: source("index.ts") },
      { find: /^agent-adapter\/(langchain|langgraph)$/, replacement: source("integrations/$1/index.ts") },
      { find: /^agent-adapter\/langchain\/agents$/, replacement: source("integrations/langchain/agents/index.ts") },
    ],
    dedupe: ["@langchain/core", "@langchain/langgraph", "langchain", "zod"],
  },
  test: {
    include: ["*.test.ts"],
    testTimeout: 60_000,
    reporters: ["default", "json"],
    outputFile: { json: ".vitest.json" },
  },
});
