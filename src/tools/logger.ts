// `Logger` port: where the library and running tools say what happened. `console` fits, and so do the usual loggers.

export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
