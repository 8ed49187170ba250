# frozen_string_literal: true

# Runs the blocks that it reads, in order, as one program whose provider is the scripted server.
require "json"
require "little_ghost"

input = JSON.parse($stdin.read)
LittleGhost.configure do |config|
  config.providers = {
    openrouter: {adapter: :openrouter, api_key: "test-key", base_url: input.fetch("base_url")}
  }
end

input.fetch("blocks").each do |block|
  eval(block.fetch("code"), TOPLEVEL_BINDING, block.fetch("file"), block.fetch("line"))
end
