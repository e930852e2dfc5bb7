import java.lang.reflect.*;
import java.net.URI;
import java.nio.file.*;
import java.util.*;

/** Prints the names of the public methods of the packages that Java programs use most: java Names.java. */
class Names {
  static final List<String> PACKAGES = List.of("lang", "lang/reflect", "lang/invoke", "util", "util/function", "util/stream", "util/regex", "util/concurrent",
      "util/concurrent/atomic", "util/concurrent/locks", "io", "nio", "nio/file", "nio/charset", "net", "time", "math", "text");

  public static void main(String[] given) throws Exception {
    Set<String> names = new TreeSet<>();
    FileSystem runtime = FileSystems.getFileSystem(URI.create("jrt:/"));
    for (String each : PACKAGES) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(runtime.getPath("/modules/java.base/java/" + each), "*.class")) {
        for (Path file : files) {
          Class<?> type = Class.forName("java." + each.replace('/', '.') + "." + file.getFileName().toString().replace(".class", ""), false, null);
          if (!Modifier.isPublic(type.getModifiers())) continue;
          for (Method method : type.getDeclaredMethods()) {
            if (Modifier.isPublic(method.getModifiers()) && !method.isSynthetic()) names.add(method.getName());
          }
        }
      }
    }
    System.out.println(String.join("\n", names));
  }
}
