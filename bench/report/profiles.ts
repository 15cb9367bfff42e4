// Profiles as text: whose the time is, and the functions with most self time.

import { basename } from "node:path";
import type { ProfileSummary } from "../measure/profile.js";

const percent = (share: number) => `${(share * 100).toFixed(1).padStart(5)}%`;

export function profileText({ path, origins, hottest }: ProfileSummary): string {
  const whose = origins.filter(({ share }) => share >= 0.005).map(({ origin, share }) => `${origin}${percent(share)}`);
  const lists = Object.entries(hottest).map(([origin, functions]) => {
    const lines = functions.map(({ name, place, share }) => `    ${percent(share)}  ${name}  ${place}`);
    return [`  ${origin}, most self time:`, ...(lines.length === 0 ? ["    nothing"] : lines)].join("\n");
  });
  return [`${basename(path)}: ${whose.join(", ")}`, ...lists].join("\n");
}
