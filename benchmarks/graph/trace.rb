# Where calls of Ruby lead while tests run: loaded before them.
#
#     GRAPH_ROOT=ROOT GRAPH_FOUND=found.json ruby -r ./trace.rb -I lib -I test -e 'Dir["test/**/*test*.rb"].sort.each { |file| require "./#{file}" }'
#
# Writes the items that go/main.go describes, of calls that are written below the root; what they run elsewhere has no
# place, and a reader or writer that `attr_accessor` declares below it is not judged. Only what ran is told, and only
# where the line writes the name: Ruby calls `to_s`, `each` or `==` by itself too.
require "json"
require "set"

root = File.realpath(ENV.fetch("GRAPH_ROOT")) + "/"
inside = ->(path) { path&.start_with?(root) ? path.delete_prefix(root) : nil }
field = Hash.new do |known, (type, name)|
  known[[type, name]] = inside.(type.instance_method(name).source_location&.first) rescue known[[type, name]] = nil
end
found = Hash.new { |sites, site| sites[site] = Set.new }
trace = TracePoint.new(:call, :c_call) do |call|
  next if call.callee_id == :initialize || call.callee_id == :new # which class it makes is another question
  if call.event == :c_call
    from, line = call.path, call.lineno
    there = false if field[[call.defined_class, call.callee_id]]
  else
    caller = caller_locations(2, 1)&.first
    from, line = caller&.absolute_path, caller&.lineno
    there = inside.(call.path)
  end
  here = inside.(from)
  found[[here, line, line, call.callee_id.to_s]] << (there ? [there, call.lineno, "Func"] : there) if here
end
at_exit do
  trace.disable
  lines = Hash.new { |files, path| files[path] = File.readlines(root + path, encoding: "utf-8").map(&:scrub) }
  written = found.select do |(path, line, _, name), _|
    word = name.delete_suffix("=")
    word.match?(/\A\w/) && lines[path][line - 1].to_s.match?(/(?<!\w)#{Regexp.escape(word)}(?!\w)/)
  end
  File.write(ENV.fetch("GRAPH_FOUND"), JSON.generate(written.map { |site, places| [*site, places.include?(false) ? nil : places.to_a.compact] }))
end
trace.enable
