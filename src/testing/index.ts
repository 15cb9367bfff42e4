// The public surface of `agent-adapter/testing`.

// ---- time
export { ManualClock } from "./manual-clock.js";
