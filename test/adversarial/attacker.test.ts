// Somebody who can read and write the checkpointer, replay bytes and call `invoke` with anything, but has no key: every attack
// in two configurations, against the two tables that docs/reference/attacks.md publishes.
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { ATTACKS } from "./attacker/attacks.js";
import { Scene } from "./attacker/scene.js";
import { CONFIGURATIONS, publishedTable, tableOf } from "./attacker/tables.js";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

for (const { name, withClaims, expected } of CONFIGURATIONS) {
  describe(`A5/table, A6, B21: an attacker without a key, ${name}`, () => {
    describe.each(Object.entries(ATTACKS))("%s", (_group, attacks) => {
      it.each(attacks.map((attack) => [attack.what, attack] as const))("%s", async (_what, attack) => {
        const scene = new Scene(withClaims);
        const happens = await attack.run(scene);
        expect({ happens, runs: scene.ran.length }).toEqual(expected(attack));
      });
    });

    it("A5/table, B21: the published table says the same", () => {
      const page = readFileSync(new URL("../../docs/reference/attacks.md", import.meta.url), "utf8");
      expect(publishedTable(page, name)).toBe(tableOf(expected));
    });
  });
}
