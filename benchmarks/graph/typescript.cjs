// Where the TypeScript compiler says that calls lead: run by graph.py with the path of the npm package `typescript`.
//
//     node graph_typescript.cjs TYPESCRIPT ROOT FILE... > found.json
//
// Each item is [path, line of the called name, name, [[path, line, kind], ...]]: declarations below the root, without
// node_modules; an empty list where the compiler knows a declaration elsewhere, null where it knows none.
const ts = require(process.argv[2]);
const path = require("path");
const root = path.resolve(process.argv[3]) + path.sep;
const files = process.argv.slice(4).map((file) => path.resolve(root, file));
const nearest = ts.findConfigFile(root, ts.sys.fileExists);
const configs = new Map();
const options = { allowJs: files.some((file) => /\.[cm]?jsx?$/.test(file)), noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, jsx: ts.JsxEmit.Preserve, strict: true };
if (nearest) {
  const read = ts.parseJsonConfigFileContent(ts.readConfigFile(nearest, ts.sys.readFile).config, ts.sys, path.dirname(nearest));
  for (const key of ["paths", "baseUrl"]) if (read.options[key] !== undefined) options[key] = read.options[key];
}
const wanted = new Set(files);
const program = ts.createProgram(files, options);
const checker = program.getTypeChecker();
const found = [];
const host = { getCompilationSettings: () => options, getScriptFileNames: () => files, getScriptVersion: () => "1",
  getScriptSnapshot: (file) => ts.sys.fileExists(file) ? ts.ScriptSnapshot.fromString(ts.sys.readFile(file)) : undefined,
  getCurrentDirectory: () => root, getDefaultLibFileName: ts.getDefaultLibFilePath, fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile, directoryExists: ts.sys.directoryExists, getDirectories: ts.sys.getDirectories };
const service = ts.createLanguageService(host);
// A constant or a member that is but another name of a function stands for that function: either is a true target of the call.
function assignedTo(declaration) {
  const around = ts.isBinaryExpression(declaration) ? declaration : declaration.parent;
  let held = around && ts.isBinaryExpression(around) && around.operatorToken.kind === ts.SyntaxKind.EqualsToken ? around.right : undefined;
  while (held && ts.isBinaryExpression(held) && held.operatorToken.kind === ts.SyntaxKind.EqualsToken) held = held.right;
  return held;
}
function passedOn(declaration) {
  const held = (ts.isVariableDeclaration(declaration) || ts.isPropertyAssignment(declaration)) && declaration.initializer
    || ts.isExportAssignment(declaration) && declaration.expression || assignedTo(declaration);
  const whole = held && ts.isRequireCall(held, true) ? checker.getSymbolAtLocation(held.arguments[0]) : undefined;
  const of = held && ts.isPropertyAccessExpression(held) && ts.isRequireCall(held.expression, true)
    ? checker.getSymbolAtLocation(held.expression.arguments[0]) : undefined;
  const symbol = of ? of.exports && resolved(of.exports.get(held.name.escapedText)) : ts.isShorthandPropertyAssignment(declaration) ? resolved(checker.getShorthandAssignmentValueSymbol(declaration))
    : whole ? whole.exports && whole.exports.get("export=")
    : held && (ts.isIdentifier(held) || ts.isPropertyAccessExpression(held)) ? resolved(checker.getSymbolAtLocation(held)) : undefined;
  return symbol && symbol.declarations && !symbol.declarations.includes(declaration)
    ? [...placed(symbol.declarations), ...symbol.declarations.flatMap(passedOn)] : [];
}
// A variable of a function that holds whatever a call returned, or was assigned later: like a parameter, no definition.
function isLocal(declaration) {
  if (!ts.isVariableDeclaration(declaration) || !ts.findAncestor(declaration, (around) => ts.isFunctionLike(around))) return false;
  const held = declaration.initializer && ts.skipOuterExpressions(declaration.initializer);
  return !(held && (ts.isFunctionLike(held) || ts.isClassExpression(held))) && !passedOn(declaration).length;
}
function placed(declarations) {
  return declarations.map((declaration) => {
    const file = declaration.getSourceFile();
    const kind = isLocal(declaration) ? "Local" : ts.SyntaxKind[declaration.kind];
    return [file.fileName, file.getLineAndCharacterOfPosition(declaration.getStart()).line + 1, kind];
  }).filter(([file]) => file.startsWith(root) && (wanted.has(file) || !file.includes("/node_modules/")))  // one that is committed
    .map(([file, at, kind]) => [file.slice(root.length), at, kind]);
}
// A signature in an interface, be it of a method or of a property that is a function, stands for what implements it: either is a true target of the call.
function implementations(source, name) {
  return (service.getImplementationAtPosition(source.fileName, name.getStart()) || [])
    .filter((each) => each.fileName.startsWith(root) && !each.fileName.includes("/node_modules/"))
    .map((each) => [each.fileName.slice(root.length),
      program.getSourceFile(each.fileName).getLineAndCharacterOfPosition(each.textSpan.start).line + 1, "Implementation"]);
}
function resolved(symbol) {
  return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}
function visit(node, source) {
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
    const callee = node.expression;
    const name = ts.isPropertyAccessExpression(callee) ? callee.name : ts.isIdentifier(callee) ? callee : undefined;
    if (name) {
      const symbol = resolved(checker.getSymbolAtLocation(name));
      const line = source.getLineAndCharacterOfPosition(name.getStart()).line + 1;
      const start = source.getLineAndCharacterOfPosition(callee.getStart()).line + 1;
      // An identifier is what a file puts a member on, be it declared there, elsewhere or nowhere: no declaration itself.
      const declared = symbol && symbol.declarations && symbol.declarations.filter((each) => !ts.isIdentifier(each));
      const places = declared && (declared.length || !symbol.declarations.length) ? placed(declared) : null;
      if (places) for (const place of declared) places.push(...passedOn(place));
      if (places && places.some((place) => /^(Method|Property)Signature$/.test(place[2]))) places.push(...implementations(source, name));
      const runs = places && places.filter((place) => !place[0].endsWith(".d.ts"));  // declared apart from the code that runs
      found.push([source.fileName.slice(root.length), start, line, name.text, places && places.length > runs.length && runs.every((place) => place[2] === "VariableDeclaration") ? null : runs]);
    }
  }
  ts.forEachChild(node, (child) => visit(child, source));
}
for (const source of program.getSourceFiles()) if (wanted.has(path.resolve(source.fileName))) visit(source, source);
process.stdout.write(JSON.stringify(found));
