# frozen_string_literal: true

require_relative "../../test_helper"
require "tmpdir"

class AgentPromptsTest < Minitest::Test
  include ScriptedRuns

  class SupportAgent < LittleGhost::Agent
    prompt_local :company, "Northstar"
    prompt_local(:id) { self.class.agent_id }
    prompt_local(:path) { |agent| agent.class.logical_path }
  end

  class BillingAgent < SupportAgent
    system_template "billing/main"
  end

  def setup
    @root = Dir.mktmpdir
    write("agent_prompts_test/support/system", "You help <%= company %> as <%= id %> (<%= path %>).\nFor <%= invocation.actor_id %><%= run.class == agent.run.class %>")
    write("billing/main", "Billing of <%= company %>")
  end

  def teardown
    FileUtils.remove_entry(@root)
  end

  def write(name, text)
    path = File.join(@root, "app/prompts/#{name}.erb")
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
  end

  # The system message that the model got, or the error.
  def instructions(agent, **options)
    scenario = script({chat: {text: "a"}}, cycle: true)
    run = agent.new(runtime: runtime_for(scenario, root: @root)).ask("hi", **options)
    return run.error if run.error

    request = scenario.requests.last
    texts(request).first if request["body"]["messages"].first["role"] == "system"
  end

  def test_the_conventional_prompt
    assert_equal "You help Northstar as support (agent_prompts_test/support).\nFor utrue", instructions(SupportAgent, actor_id: "u")
    assert_equal "You help Northstar as support (agent_prompts_test/support).\nFor true", instructions(Class.new(SupportAgent))
  end

  def test_which_prompt_is_used
    assert_equal "Billing of Northstar", instructions(BillingAgent)
    assert_equal "inline", instructions(Class.new(BillingAgent) { system_prompt "inline" })
    assert_equal "Billing of Northstar", instructions(Class.new(agent_class) { system_template "billing/main"; prompt_local :company, "Northstar" })
    agent = Class.new(BillingAgent)
    assert_equal [nil, "billing/main"], [agent.system_prompt, agent.system_template]
    agent.system_prompt "inline"
    assert_equal ["inline", nil], [agent.system_prompt, agent.system_template]
    assert_equal "You are a helpful assistant.", instructions(LittleGhost::Agent)
    assert_nil instructions(Class.new(LittleGhost::Agent) { system_prompt "" })
  end

  def test_blocks_get_the_locals
    agent = Class.new(SupportAgent) { system_prompt { |locals| locals.keys.join(" ") } }
    assert_equal "invocation run agent company id path", instructions(agent)
    agent.prompt_local :run, "overridden"
    agent.system_prompt { |locals| locals[:run] }
    assert_equal "overridden", instructions(agent)
  end

  def test_paths_of_one_request
    other = Dir.mktmpdir
    FileUtils.mkdir_p(File.join(other, "billing"))
    File.write(File.join(other, "billing/main.erb"), "This request")
    assert_equal "This request", instructions(BillingAgent, template_paths: [LittleGhost::TrustedPath.new(path: other)])
    assert_instance_of ArgumentError, instructions(BillingAgent, template_paths: [other])
  ensure
    FileUtils.remove_entry(other)
  end

  def test_missing_prompts
    assert_instance_of LittleGhost::InvalidPromptTemplateError, instructions(Class.new(LittleGhost::Agent))
    assert_instance_of LittleGhost::MissingPromptTemplateError, instructions(Class.new(SupportAgent) { system_template "none" })
    write("billing/main", "<%= nothing %>")
    assert_instance_of LittleGhost::MissingPromptLocalError, instructions(BillingAgent)
  end

  def test_prompt_locals
    agent = SupportAgent.new
    assert_equal({company: "Northstar", id: "support", path: "agent_prompts_test/support"}, agent.prompt_locals)
    assert_predicate agent.prompt_locals, :frozen?
    assert_raises(ArgumentError) { Class.new(LittleGhost::Agent) { prompt_local :a } }
    assert_raises(ArgumentError) { Class.new(LittleGhost::Agent) { prompt_local(:a, 1) { 2 } } }
    assert_nil Class.new(LittleGhost::Agent) { prompt_local :a, nil }.new.prompt_locals.fetch(:a)
  end
end
