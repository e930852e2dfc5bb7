# Prints the classes of Ruby's core and of its most used libraries, each with its public methods: ruby ruby_classes.rb
# A class whose methods another one has too is left out, for what answers to them may be either.
LIBRARIES = %w[
  set pathname stringio strscan time date json yaml logger optparse ostruct erb tempfile net/http uri digest socket zlib
  bigdecimal delegate monitor cgi etc pstore weakref ipaddr benchmark io/console
]
INTERNAL = /\A(Gem|DidYouMean|ErrorHighlight|RubyVM|IO::generic|Monitor|SyntaxSuggest|OpenSSL|Resolv|Socket::|Zlib::|Process|Etc|PP|CGI|TracePoint|ARGF|Ractor|Encoding|WeakRef|Ripper|RbConfig|Bundler|Psych::[^N]|OptionParser::|JSON::Ext|ERB::|UNIX|UDP|TCPS|Addr)/
WORD = /\A[a-z_]\w*[?!=]?\z/
LIBRARIES.each do |library|
  require library
rescue LoadError, StandardError
  nil
end
everywhere = Object.instance_methods
classes = {}
ObjectSpace.each_object(Module) do |type|
  next if type.singleton_class? || type.name.nil? || type.name.match?(INTERNAL) || type.name.start_with?("#")
  names = (type.instance_methods - everywhere).map(&:to_s).grep(WORD).reject { |name| name.start_with?("_") }
  classes[names.sort] = type.name if names.size >= 2
end
kept = []
having = Hash.new { |all, name| all[name] = [] } # by method, the numbers of the classes kept
classes.keys.sort_by { |names| -names.size }.each do |names|
  fewest = names.map { |name| having[name] }.min_by(&:size)
  next if fewest.any? { |number| (names - kept[number]).empty? }
  names.each { |name| having[name] << kept.size }
  kept << names
end
rows = kept.map { |names| [classes[names].sub("Warning::buffer", "String"), names] }
rows << ["Object", everywhere.map(&:to_s).grep(WORD).sort]
rows.sort.each { |type, names| puts "#{type} #{names.join(" ")}" }
