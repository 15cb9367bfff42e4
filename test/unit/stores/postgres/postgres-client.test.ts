// What is sent again and what is not, with a pool that fails on purpose.
import { describe, expect, test } from "vitest";
import { mayPass } from "../../../../src/stores/postgres/failures.js";
import { PostgresClient } from "../../../../src/stores/postgres/postgres-client.js";

const failure = (code?: string, message = "no") =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

function client(failures: readonly unknown[]) {
  const left = [...failures];
  const sent: string[] = [];
  const pool = {
    query: async (text: string) => {
      sent.push(text);
      if (left.length > 0) throw left.shift();
      return { rows: [{ n: 1 }] };
    },
  };
  return { sent, client: new PostgresClient(pool, "s") };
}

describe("A11/postgres: failures", () => {
  test.each([
    ["a connection that was refused", failure("ECONNREFUSED")],
    ["a reset", failure("ECONNRESET")],
    ["every address refused", new AggregateError([failure("ECONNREFUSED")])],
    ["a session that was ended", failure("57P01")],
    ["a server that starts", failure("57P03")],
    ["a serialization failure", failure("40001")],
    ["a deadlock", failure("40P01")],
    ["too many connections", failure("53300")],
    ["a standby", failure("25006")],
    ["pg's lost connection", failure(undefined, "Connection terminated unexpectedly")],
    [
      "a client of pg that is done for",
      failure(undefined, "Client has encountered a connection error and is not queryable"),
    ],
  ])("%s passes: the statement is sent again", async (_name, error) => {
    const { client: sql, sent } = client([error]);
    expect(await sql.query("SELECT 1")).toEqual([{ n: 1 }]);
    expect(sent).toHaveLength(2);
  });

  test.each([
    ["no right", failure("42501")],
    ["no table", failure("42P01")],
    ["a text it cannot hold", failure("22021")],
    ["a cancelled statement", failure("57014")],
    ["a full disk", failure("53100")],
    ["a defect of the driver", new TypeError("x is not a function")],
    ["something that is no error", "no"],
  ])("%s stays: StoreUnavailable with the cause, without another attempt", async (_name, error) => {
    const { client: sql, sent } = client([error]);
    await expect(sql.query("SELECT 1")).rejects.toMatchObject({ kind: "StoreUnavailable", cause: error });
    expect(sent).toHaveLength(1);
  });

  test("what does not pass in a few seconds is StoreUnavailable", { timeout: 20_000 }, async () => {
    const { client: sql, sent } = client(Array.from({ length: 20 }, () => failure("ECONNREFUSED")));
    await expect(sql.query("SELECT 1")).rejects.toMatchObject({ kind: "StoreUnavailable" });
    expect(sent).toHaveLength(6);
  });

  test("after close nothing is sent", async () => {
    const { client: sql, sent } = client([]);
    sql.close();
    await expect(sql.query("SELECT 1")).rejects.toMatchObject({ kind: "StoreUnavailable" });
    expect(sent).toEqual([]);
  });

  test("a code that only looks like one of ours stays", () => {
    expect(["0", "57P06", "40002", "ENOMEM", ""].map((code) => mayPass(failure(code)))).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
