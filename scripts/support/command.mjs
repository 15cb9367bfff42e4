// What every script here needs to be both a command and a module that tests import.
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Is the module of this url the file that node was started with?
 * @param {string} url
 */
export function isMain(url) {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === realpathSync(fileURLToPath(url));
}

/** The repository to work on: the first argument that is not a flag, else this one. */
export function rootFromArguments() {
  const given = process.argv.slice(2).find((argument) => !argument.startsWith("-"));
  return given === undefined ? fileURLToPath(new URL("../..", import.meta.url)) : resolve(given);
}
