# Where calls of Ruby lead while tests run: loaded before them.
#
#     GRAPH_ROOT=ROOT GRAPH_FOUND=found.json ruby -r ./trace.rb -I lib -I test -e 'Dir["test/**/*test*.rb"].sort.each { |file| require "./#{file}" }'
#
# Writes the items that go/main.go describes, of calls whose both ends are below the root. Only what ran is told, and
# only where the line writes the name: Ruby calls `to_s`, `each` or `==` by itself too.
require "json"
require "set"

root = File.realpath(ENV.fetch("GRAPH_ROOT")) + "/"
inside = ->(path) { path&.start_with?(root) ? path.delete_prefix(root) : nil }
found = Hash.new { |sites, site| sites[site] = Set.new }
trace = TracePoint.new(:call) do |call|
  there = inside.(call.path)
  next unless there
  from = caller_locations(2, 1)&.first
  here = from && inside.(from.absolute_path)
  found[[here, from.lineno, from.lineno, call.callee_id.to_s]] << [there, call.lineno, "Func"] if here && call.callee_id != :initialize
end
at_exit do
  trace.disable
  lines = Hash.new { |files, path| files[path] = File.readlines(root + path, encoding: "utf-8").map(&:scrub) }
  written = found.select do |(path, line, _, name), _|
    word = name.delete_suffix("=")
    word.match?(/\A\w/) && lines[path][line - 1].to_s.match?(/(?<!\w)#{Regexp.escape(word)}(?!\w)/)
  end
  File.write(ENV.fetch("GRAPH_FOUND"), JSON.generate(written.map { |site, places| [*site, places.to_a] }))
end
trace.enable
