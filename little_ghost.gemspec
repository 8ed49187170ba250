# frozen_string_literal: true

# At the root of the repository, because a gem cannot hold files above its
# gemspec, and the extension is built from the crates next to gem/.
root = __dir__
manifest = File.read(File.join(root, "Cargo.toml"))

# RubyGems builds with `cargo --locked`. For that, every member of the workspace
# must be there, with a target: their manifests and sources are small.
members = manifest[/^members = \[(.*?)\]/m, 1].scan(/"([^"]+)"/).flatten
crates = members.flat_map do |member|
  Dir[File.join(root, member, "{Cargo.toml,build.rs,{build,launcher,program,src}/**/*}")]
end

Gem::Specification.new do |spec|
  spec.name = "little_ghost"
  spec.version = manifest[/^version = "([^"]+)"/, 1]
  spec.summary = "LLM agents inside ordinary applications"
  spec.description = <<~TEXT
    Agents, tools, streaming and runs as ordinary Ruby objects, on an engine
    written in Rust that Python and Rust applications use too.
  TEXT
  spec.authors = ["LittleGhost contributors"]
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.3"
  spec.requirements = ["Rust 1.88 or newer with cargo, and libclang, to build the extension"]

  spec.extensions = ["bindings-ruby/Cargo.toml"]
  spec.require_paths = ["gem/lib"]
  files = Dir[File.join(root, "gem/{lib,sig}/**/*.{rb,rbs,erb,yaml}")] +
    Dir[File.join(root, "{README.md,CHANGELOG.md,LICENSE,NOTICE,Cargo.toml,Cargo.lock}")] +
    Dir[File.join(root, "core/README.md")] + crates
  spec.files = files.select { |file| File.file?(file) }.map { |file| file.delete_prefix("#{root}/") }.sort
  spec.metadata["rubygems_mfa_required"] = "true"
end
