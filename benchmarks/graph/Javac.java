import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.*;
import javax.lang.model.util.*;
import javax.tools.*;

/**
 * Where javac says that calls lead.
 *
 * <p>java Javac.java ROOT [CLASSPATH] prints the items that go/main.go describes, and begins each at its name. A method
 * below the root stands for those that override it.
 */
class Javac {
  static Trees trees;
  static Elements elements;
  static SourcePositions positions;
  static Path root;
  static final Map<String, List<ExecutableElement>> byName = new HashMap<>();
  static final StringJoiner found = new StringJoiner(",\n", "[", "]");

  public static void main(String[] given) throws Exception {
    root = Path.of(given[0]).toAbsolutePath();
    List<Path> files = new ArrayList<>();
    try (var walk = Files.walk(root)) {
      walk.filter(p -> p.toString().endsWith(".java") && !p.endsWith("module-info.java") && !p.endsWith("package-info.java")).sorted().forEach(files::add);
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager manager = compiler.getStandardFileManager(d -> {}, null, null);
    List<String> options = new ArrayList<>(List.of("-proc:none", "-Xlint:none", "-implicit:none", "-XDshould-stop.ifError=FLOW"));
    if (given.length > 1) options.addAll(List.of("-classpath", given[1]));
    JavacTask task = (JavacTask) compiler.getTask(null, manager, d -> {}, options, null, manager.getJavaFileObjectsFromPaths(files));
    trees = Trees.instance(task);
    elements = task.getElements();
    positions = trees.getSourcePositions();
    List<CompilationUnitTree> units = new ArrayList<>();
    for (CompilationUnitTree unit : task.parse()) units.add(unit);
    task.analyze();
    for (CompilationUnitTree unit : units) new Declared().scan(unit, null);
    for (CompilationUnitTree unit : units) new Calls(unit).scan(unit, null);
    System.out.println(found);
  }

  static class Declared extends TreePathScanner<Void, Void> {
    @Override
    public Void visitMethod(MethodTree tree, Void nothing) {
      if (trees.getElement(getCurrentPath()) instanceof ExecutableElement method) {
        byName.computeIfAbsent(method.getSimpleName().toString(), n -> new ArrayList<>()).add(method);
      }
      return super.visitMethod(tree, nothing);
    }
  }

  static String place(Element element, String kind) {
    TreePath path = trees.getPath(element);
    if (path == null) return null;
    CompilationUnitTree unit = path.getCompilationUnit();
    String file = root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
    long start = positions.getStartPosition(unit, path.getLeaf());
    if (start < 0) return null;
    return "[\"" + file + "\"," + unit.getLineMap().getLineNumber(start) + ",\"" + kind + "\"]";
  }

  static class Calls extends TreePathScanner<Void, Void> {
    final CompilationUnitTree unit;

    Calls(CompilationUnitTree unit) {
      this.unit = unit;
    }

    void note(long at, String name, Element element) {
      String file = root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
      long line = unit.getLineMap().getLineNumber(at);
      String places = "null";
      if (element instanceof ExecutableElement method && element.getEnclosingElement() instanceof TypeElement owner && owner.asType().getKind() != javax.lang.model.type.TypeKind.ERROR) {
        LinkedHashSet<String> all = new LinkedHashSet<>();
        String own = place(method, "Method");
        if (own == null && method.getKind() == ElementKind.CONSTRUCTOR) own = place(owner, "Class");
        if (own != null) all.add(own);
        for (ExecutableElement other : own == null ? List.<ExecutableElement>of() : byName.getOrDefault(name, List.of())) {
          if (other != method && other.getEnclosingElement() instanceof TypeElement type && elements.overrides(other, method, type)) {
            String below = place(other, "Override");
            if (below != null) all.add(below);
          }
        }
        places = "[" + String.join(",", all) + "]";
      }
      found.add("[\"" + file + "\"," + line + "," + line + ",\"" + name + "\"," + places + "]");
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree tree, Void nothing) {
      ExpressionTree callee = tree.getMethodSelect();
      Element element = trees.getElement(new TreePath(getCurrentPath(), callee));
      String name = callee instanceof MemberSelectTree m ? m.getIdentifier().toString() : callee instanceof IdentifierTree i ? i.getName().toString() : "";
      if (!name.isEmpty() && !name.equals("super") && !name.equals("this")) note(positions.getEndPosition(unit, callee) - name.length(), name, element);
      return super.visitMethodInvocation(tree, nothing);
    }

    @Override
    public Void visitNewClass(NewClassTree tree, Void nothing) {
      if (tree.getClassBody() == null) {
        String[] parts = tree.getIdentifier().toString().replaceAll("<.*", "").split("\\.");
        note(positions.getStartPosition(unit, tree), parts[parts.length - 1], trees.getElement(getCurrentPath()));
      }
      return super.visitNewClass(tree, nothing);
    }
  }
}
