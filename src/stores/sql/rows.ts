// Reads columns of a row strictly: what this release did not write is not a record.

import { StoreUnavailable } from "../../index.js";
import type { SqlRow } from "./sql-client.js";

/** @throws StoreUnavailable */
export function textIn(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw unreadable(column);
}

/** @throws StoreUnavailable */
export function textOrNullIn(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : textIn(row, column);
}

/** 64-bit numbers come as text or bigint from some drivers. @throws StoreUnavailable */
export function numberIn(row: SqlRow, column: string): number {
  const value = row[column];
  const number = typeof value === "number" ? value : Number(typeof value === "bigint" ? value : textIn(row, column));
  if (Number.isFinite(number)) return number;
  throw unreadable(column);
}

/** @throws StoreUnavailable */
export function numberOrNullIn(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : numberIn(row, column);
}

/** @throws StoreUnavailable */
export function jsonIn(row: SqlRow, column: string): unknown {
  try {
    return JSON.parse(textIn(row, column));
  } catch {
    throw unreadable(column);
  }
}

export function unreadable(column: string): StoreUnavailable {
  return new StoreUnavailable(`the store holds a row that this release cannot read: column ${column}`);
}
