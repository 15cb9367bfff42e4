import { defineConfig } from "vitest/config";

// `npm run test:chaos`. Kills and races between OS processes: slow, with fixed seeds, one file after the other so that they do not starve each other.
export default defineConfig({
  ssr: { resolve: { conditions: ["agent-adapter-source", "node", "import", "module", "default"] } },
  test: {
    include: ["test/chaos/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 120_000,
    reporters: ["default", "json"],
    outputFile: { json: ".vitest.json" },
  },
});
