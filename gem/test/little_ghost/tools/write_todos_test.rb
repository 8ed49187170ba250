# frozen_string_literal: true

require_relative "../../test_helper"

class WriteTodosTest < Minitest::Test
  def setup
    @tool = LittleGhost::Tools::WriteTodos.new
    @context = LittleGhost::RunContext.new
  end

  def todo(id, status = "pending", **more) = {id: id, title: " Look ", status: status, **more}

  def execute(todos, title: " Plan ") = @tool.execute({plan_title: title, todos: todos}, context: @context)

  def test_the_plan_is_replaced
    outcome = execute([todo("a", "in_progress"), todo("b", details: "why")])
    plan = {
      "plan_title" => "Plan",
      "todos" => [{"id" => "a", "title" => "Look", "status" => "in_progress"}, {"id" => "b", "title" => "Look", "status" => "pending", "details" => "why"}]
    }
    assert_equal [:success, plan, plan], [outcome.status, outcome.value, @context.state["little_ghost.plan"]]
    outcome.value["todos"].clear
    assert_equal 2, @context.state["little_ghost.plan"]["todos"].length
    execute([])
    assert_empty @context.state["little_ghost.plan"]["todos"]
  end

  def test_what_is_refused
    {
      [todo("a"), todo("a")] => /unique/, [todo("a", "in_progress"), todo("b", "in_progress")] => /in_progress/, [todo("A b")] => /id/,
      [todo("a", "later")] => /status/, [todo("a").merge(title: "  ")] => /title/, [todo("a").merge(title: "x" * 49)] => /title/,
      Array.new(21) { |n| todo("t#{n}") } => /todos/, [todo("a", details: "x" * 4_001)] => /details/
    }.each do |todos, pattern|
      outcome = execute(todos)
      assert_equal :error, outcome.status, outcome.inspect
      assert_match pattern, outcome.content
    end
    ["", " ", "x" * 81, "a\nb"].each { |title| assert_equal :error, execute([], title: title).status, title.inspect }
    assert_nil @context.state["little_ghost.plan"]
  end

  def test_without_a_context
    assert_equal :success, @tool.execute({plan_title: "Plan", todos: [todo("a")]}).status
  end
end
