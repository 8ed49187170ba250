# frozen_string_literal: true

require_relative "../../test_helper"

class TrajectoryTest < Minitest::Test
  Step = Struct.new(:id, :parent_id, :predecessor_ids, :attempts, keyword_init: true)
  Attempt = Struct.new(:started_at, :finished_at)

  def step(id, from, to, after: [], parent: nil)
    Step.new(id: id, parent_id: parent, predecessor_ids: after, attempts: [Attempt.new(Time.at(from), Time.at(to))])
  end

  def test_questions
    steps = [step("a", 0, 1), step("b", 1, 3, after: ["a"]), step("c", 2, 4, after: ["a"], parent: "b")]
    trajectory = LittleGhost::Assembly::Trajectory.new(steps)
    assert_equal [steps[1], nil, [steps[2]], steps], [trajectory.step("b"), trajectory.step("x"), trajectory.children("b"), trajectory.to_a]
    assert_equal [%w[a b], %w[a c]], trajectory.transitions
    assert_equal [steps[0].attempts, []], [trajectory.attempts_for("a"), trajectory.attempts_for("x")]
    assert_equal [true, false, false], [trajectory.concurrent?("b", "c"), trajectory.concurrent?("a", "b"), trajectory.concurrent?("a", "x")]
    assert_predicate trajectory.steps, :frozen?
  end

  def test_a_result_has_one
    result = LittleGhost::RunResult.new(message: nil, stop_reason: :end_turn, usage: LittleGhost::Usage.new, messages: [], state: {})
    assert_empty result.trajectory.to_a
  end
end
