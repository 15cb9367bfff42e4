// Exact shapes: a value from outside is what it claims to be only when every field is there, fits, and no other field is.

type Test = (value: unknown) => boolean;

/** One test per field. */
export type Shape<Fields> = Readonly<Record<keyof Fields & string, Test>>;
type AnyShape = Readonly<Record<string, Test>>;

/** Does the value have every required field, perhaps the optional ones, and no other? Own fields only. */
export function hasShape(value: unknown, required: AnyShape, optional: AnyShape = {}): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const tests: AnyShape = { ...optional, ...required };
  return (
    Object.keys(required).every((name) => Object.hasOwn(fields, name)) &&
    Object.keys(fields).every((name) => Object.hasOwn(tests, name) && tests[name]?.(fields[name]) === true)
  );
}

export const isText = (value: unknown): boolean => typeof value === "string";
export const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
/** A whole number from 0: counts and milliseconds since the epoch. */
export const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
export const isWhole = (value: unknown): boolean => Number.isSafeInteger(value);
export const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);
