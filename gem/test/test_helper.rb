# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))

require "minitest/autorun"
require "timeout"
require "little_ghost"
require_relative "support/scripted_llm"

Thread.report_on_exception = true

# What the tests of runs share: a scripted provider, and agents that use it.
module ScriptedRuns
  # Seconds after which something will not come any more.
  PATIENCE = 20

  def script(*exchanges, **options)
    ScriptedLLM.instance.script(*exchanges, **options)
  end

  # A Configuration whose only provider is +scenario+.
  def configuration_for(scenario, **settings)
    LittleGhost::Configuration.new(
      {
        providers: {
          scripted: {
            adapter: :openai_compatible, api: "chat_completions", api_key: "test-key",
            base_url: scenario.base_url, allow_insecure_http: true
          }
        },
        models: {default: {target: "scripted:test-model"}},
        default_model: "default"
      }.merge(settings)
    )
  end

  def runtime_for(scenario, **settings)
    LittleGhost::Runtime.new(configuration: configuration_for(scenario, **settings))
  end

  # An agent class with +tools+; the block adds declarations.
  def agent_class(*tools, &declarations)
    Class.new(LittleGhost::Agent) do
      agent_id "tester"
      system_prompt "Be brief."
      tools(*tools)
      class_eval(&declarations) if declarations
    end
  end

  def agent_for(scenario, *tools, **settings, &declarations)
    agent_class(*tools, &declarations).new(runtime: runtime_for(scenario, **settings))
  end

  # An agent whose model answers with +turns+, without a server.
  def scripted_agent(*turns)
    scripted = LittleGhost::Testing::ScriptedModel.new(*turns)
    agent_class { model scripted }.new
  end

  # A server that sends one delta and then nothing.
  def silent_script
    script({chat: {text: ["first", {wait_for: "never"}, "second"]}}, cycle: true)
  end

  def tool_calls(*calls)
    {chat: {tool_calls: calls.map.with_index(1) { |(name, arguments), n| {id: "call_#{n}", name: name, arguments: arguments} }}}
  end

  # The text of each message that a recorded request sent.
  def texts(request)
    request["body"]["messages"].map { |message| message["content"].is_a?(Array) ? message["content"].map { |part| part["text"] }.join : message["content"] }
  end

  def define_tool(name, exclusive: false, **properties, &work)
    schema = {type: "object", properties: properties, required: properties.keys, additionalProperties: false}
    LittleGhost::Tool.define(name: name, description: "Does #{name}.", input_schema: schema, &work).tap do |tool|
      tool.exclusive(exclusive)
    end
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # Fails when the block takes +limit+ seconds, of which a busy machine never needs so many.
  def assert_quick(limit = PATIENCE)
    start = now
    yield.tap { assert_operator now - start, :<, limit, "took too long" }
  end
end
