// Which errors of the package a function throws by its own code, read from the syntax tree.
// Owns following direct calls into functions of src; what comes through ports, callbacks and stored promises is not seen, and
// what stands in a `try` with a `catch` counts as caught.
import ts from "typescript";

/**
 * @typedef {(declaration: ts.Node) => ReadonlySet<string>} ThrownBy
 */

/**
 * @param {ts.TypeChecker} checker
 * @param {(name: string, declaration: ts.Declaration) => boolean} isOurs is this class an error of the package?
 * @returns {ThrownBy} the names of the error classes that a function, method or class (its constructor) throws
 */
export function thrownErrors(checker, isOurs) {
  /** @type {Map<ts.Node, ReadonlySet<string>>} */
  const known = new Map();

  /** @type {ThrownBy} */
  const thrownBy = (declaration) => {
    const before = known.get(declaration);
    if (before !== undefined) return before;
    /** @type {Set<string>} */
    const names = new Set();
    // Set before it is filled: a function that calls itself throws nothing more by that.
    known.set(declaration, names);
    for (const body of bodiesOf(declaration)) visit(body, names);
    return names;
  };

  /**
   * @param {ts.Node} node
   * @param {Set<string>} names
   */
  const visit = (node, names) => {
    if (ts.isFunctionLike(node) || ts.isClassLike(node)) return;
    if (ts.isTryStatement(node) && node.catchClause !== undefined) {
      visit(node.catchClause, names);
      if (node.finallyBlock !== undefined) visit(node.finallyBlock, names);
      return;
    }
    if (ts.isThrowStatement(node)) for (const name of errorsOf(node.expression)) names.add(name);
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      for (const name of thrownBy(calledBy(node) ?? node)) names.add(name);
    }
    ts.forEachChild(node, (child) => visit(child, names));
  };

  /** @param {ts.Expression} thrown */
  const errorsOf = (thrown) => {
    const type = checker.getTypeAtLocation(thrown);
    const parts = type.isUnion() ? type.types : [type];
    return parts.flatMap(({ symbol }) => {
      const declaration = symbol?.declarations?.[0];
      return declaration !== undefined && isOurs(symbol.name, declaration) ? [symbol.name] : [];
    });
  };

  /** @param {ts.CallExpression | ts.NewExpression} node */
  const calledBy = (node) => {
    const declaration = checker.getResolvedSignature(node)?.declaration;
    if (declaration !== undefined) return ts.isConstructorDeclaration(declaration) ? declaration.parent : declaration;
    // A class without a constructor has no signature of its own.
    if (!ts.isNewExpression(node)) return undefined;
    return checker.getTypeAtLocation(node).symbol?.declarations?.find(ts.isClassDeclaration);
  };

  return thrownBy;
}

/**
 * The code that runs when this is called. Of an overloaded function: its implementation.
 * @param {ts.Node} declaration
 * @returns {ts.Node[]}
 */
function bodiesOf(declaration) {
  if (ts.isClassDeclaration(declaration)) return declaration.members.flatMap(constructingCode);
  if (ts.isFunctionDeclaration(declaration) && declaration.body === undefined) return implementationOf(declaration);
  const { body } = /** @type {{ body?: ts.Node }} */ (/** @type {unknown} */ (declaration));
  return ts.isFunctionLike(declaration) && body !== undefined ? [body] : [];
}

/**
 * @param {ts.ClassElement} member
 * @returns {ts.Node[]}
 */
function constructingCode(member) {
  if (ts.isConstructorDeclaration(member)) return member.body === undefined ? [] : [member.body];
  const isOwnField = ts.isPropertyDeclaration(member) && !ts.getModifiers(member)?.some(isStatic);
  return isOwnField && member.initializer !== undefined ? [member.initializer] : [];
}

/** @param {ts.Modifier} modifier */
function isStatic({ kind }) {
  return kind === ts.SyntaxKind.StaticKeyword;
}

/** @param {ts.FunctionDeclaration} overload */
function implementationOf(overload) {
  const siblings = ts.isSourceFile(overload.parent) ? overload.parent.statements : [];
  return siblings.flatMap((other) =>
    ts.isFunctionDeclaration(other) && other.name?.text === overload.name?.text && other.body !== undefined
      ? [other.body]
      : [],
  );
}
