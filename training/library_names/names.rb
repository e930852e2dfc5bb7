# Prints the names of the public methods of Ruby's core and of its most used libraries: ruby names.rb
require "set"
require "stringio"
require "pathname"
require "json"
require "time"
require "date"
require "delegate"
require "ostruct"
require "fileutils"
require "net/http"
require "uri"
types = ObjectSpace.each_object(Module).select { |each| each.name && !each.name.start_with?("Gem", "RubyVM", "Monitor", "ErrorHighlight", "DidYouMean") }
names = types.flat_map { |each| each.public_instance_methods(false) + each.singleton_methods(false) } + Kernel.private_instance_methods(false)
puts names.map(&:to_s).select { |each| each.match?(/\A[a-z_]\w*[?!]?\z/) }.uniq.sort
