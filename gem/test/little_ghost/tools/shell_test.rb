# frozen_string_literal: true

require "test_helper"
require "json"
require_relative "../../support/premises"

class ShellToolTest < Minitest::Test
  include Premises

  # Runs nothing, and says what it was asked.
  class Echoing < LittleGhost::Sandbox
    def execute_program(command, timeout:, max_output_bytes: nil, **)
      Execution.new(stdout: [command, timeout, max_output_bytes].inspect, stderr: "", exit_code: nil)
    end
  end

  def shell(sandbox)
    LittleGhost::Tools::Shell.new(binding: LittleGhost::Tool::Binding.new(sandbox: sandbox))
  end

  def run_in(sandbox, *command)
    JSON.parse(shell(sandbox).call({"command" => command}))
  end

  def test_it_tells_what_came_of_a_program
    sandbox = unrestricted
    assert_equal(
      {"stdout" => "$HOME *\n", "stderr" => "", "exit_status" => 0, "success" => true}, run_in(sandbox, "/bin/echo", "$HOME", "*")
    )
    assert_equal [3, false], run_in(sandbox, "/bin/sh", "-c", "exit 3").values_at("exit_status", "success")
    assert_equal [nil, nil], run_in(sandbox, "/bin/sh", "-c", "kill -9 $$").values_at("exit_status", "success")
    assert_equal 127, run_in(sandbox, "/nowhere/at/all")["exit_status"]
    assert_equal "shell", LittleGhost::Tools::Shell.tool_name
  end

  def test_what_the_model_can_put_right
    [[], [""]].each { |command| assert_raises(LittleGhost::ToolError) { shell(unrestricted).call({"command" => command}) } }
    assert_raises(LittleGhost::ToolError) { shell(nil).call({"command" => ["a"]}) }
    assert_equal :error, shell(unrestricted).execute({"command" => "ls"}).status
  end

  def test_sandboxes_of_the_application_have_their_way
    sandbox = Echoing.new(workspace: open_workspace)
    assert_equal '[["a", "b"], 30, 1000000]', run_in(sandbox, "a", "b")["stdout"]
  end
end
