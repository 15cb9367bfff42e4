// What a part that misbehaves gives back: errors that hold what nobody may read, and objects that only look like promises.

export const CANARY = "CANARY-4242";

export const thenable = (value: unknown) => ({
  then: (resolve: (value: unknown) => void) => resolve(value),
});
export const failing = (error: unknown) => ({
  then: (_: unknown, reject: (error: unknown) => void) => reject(error),
});

export const boom = (): never => {
  throw new Error(CANARY);
};
