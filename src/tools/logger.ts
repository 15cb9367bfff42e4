// `Logger` port: where the library and running tools say what happened. `console` fits, and so do the usual loggers.

/** Where the library and running tools say what happened. `console` fits. */
export interface Logger {
  /** Details for whoever looks for a fault. */
  debug(message: string): void;
  /** What happened, as it should. */
  info(message: string): void;
  /** What should not be, and did no harm. */
  warn(message: string): void;
  /** What failed. */
  error(message: string): void;
}
