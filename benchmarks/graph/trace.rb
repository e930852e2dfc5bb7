# Where calls of Ruby lead while tests run: loaded before them.
#
#     GRAPH_ROOT=ROOT GRAPH_FOUND=found.json ruby -r ./trace.rb -I lib -I test -e 'Dir["test/**/*test*.rb"].sort.each { |file| require "./#{file}" }'
#
# Writes the items that go/main.go describes, of calls whose both ends are below the root. Only what ran is told.
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
  File.write(ENV.fetch("GRAPH_FOUND"), JSON.generate(found.map { |site, places| [*site, places.to_a] }))
end
trace.enable
