# frozen_string_literal: true

require "test_helper"
require "little_ghost/testing"
require "tmpdir"

# Cassettes and faults, put over an application's own connections.
class ExchangesTest < Minitest::Test
  include ScriptedRuns

  Kit = LittleGhost::Testing
  KEY = "sk-live-0123456789abcdef"

  def setup
    @folder = Dir.mktmpdir
    Kit.cassette_directory = @folder
  end

  def teardown
    Kit.cassette_directory = nil
    FileUtils.remove_entry(@folder)
  end

  def agent(scenario)
    connection = {adapter: :openai_compatible, api: "chat_completions", api_key: KEY, base_url: scenario.base_url}
    runtime = runtime_for(scenario, providers: {scripted: connection})
    agent_class.new(runtime: runtime)
  end

  def test_a_recorded_exchange_is_played_without_a_network
    scenario = script({chat: {text: ["Hello, ", "you"]}})
    first = Kit.cassette("support/hello") do |cassette|
      assert_predicate cassette, :recording?
      agent(scenario).ask("My key is #{KEY}, and I am Ada Lovelace")
    end
    text = File.read(File.join(@folder, "support/hello.json"))
    refute_includes text, KEY
    refute_match(/bearer|authorization/i, text)
    assert_includes text, "My key is [scrubbed]"

    played = Kit.cassette("support/hello") do |cassette|
      refute_predicate cassette, :recording?
      agent(scenario).ask("My key is #{KEY}, and I am Ada Lovelace")
    end
    assert_equal first.response, played.response
    assert_equal 1, scenario.requests.length
  end

  def test_texts_to_scrub_are_never_written
    scenario = script({chat: {text: ["Dear Ada Love", "lace"]}, split: 9})
    Kit.cassette("scrubbed", scrub: ["Ada Lovelace"]) { agent(scenario).ask("I am Ada Lovelace") }
    text = File.read(File.join(@folder, "scrubbed.json"))
    refute_includes text, "Ada Lovelace"
    assert_includes text, "I am [scrubbed]"
  end

  def test_a_changed_request_is_refused_with_what_changed
    scenario = script({chat: {text: "Hello"}})
    Kit.cassette("strict", mode: :record) { agent(scenario).ask("Hi") }
    error = assert_raises(Kit::UnmetExpectation) { Kit.cassette("strict", mode: :replay) { agent(scenario).ask("Ho") } }
    assert_includes error.message, "recorded \"Hi\", sent \"Ho\""
    error = assert_raises(Kit::UnmetExpectation) { Kit.cassette("strict", mode: :replay) {} }
    assert_includes error.message, "has 1 exchange that nobody asked for"
    lenient = Kit.cassette("strict", ignore: "/messages") { agent(scenario).ask("Ho") }
    assert_equal "Hello", lenient.response
    assert_equal 1, scenario.requests.length
  end

  def test_names_modes_and_files_are_checked
    ["", "/etc/passwd", "../outside"].each { |name| assert_raises(ArgumentError) { Kit.cassette(name) {} } }
    assert_raises(ArgumentError) { Kit.cassette("x", mode: :sometimes) {} }
    assert_raises(LittleGhost::ConfigurationError) { Kit.cassette("missing", mode: :replay) {} }
  end

  def test_faults_happen_to_the_requests_they_are_for
    scenario = script({chat: {text: "Hello"}}, {chat: {text: "Hello"}})
    Kit.faults({status: 503, headers: {"retry-after" => 0}}, {drop_after: 60, on: 2}) do |faults|
      run = agent(scenario).ask("Hi")
      assert_equal "Hello", run.response
      assert_equal 3, faults.requests
    end
    refused = Kit.faults(status: 401, body: {error: {message: "bad key"}}) { agent(scenario).ask("Hi").error }
    assert_equal 401, refused.status
    error = assert_raises(Kit::UnmetExpectation) { Kit.faults(status: 500, on: 3) {} }
    assert_includes error.message, "planned for request 3, but only 0 requests were sent"
    assert_raises(ArgumentError) { Kit.faults(stats: 500) {} }
  end

  def test_a_stall_ends_at_the_deadline
    scenario = script({chat: {text: "Hello"}})
    run = Kit.faults(stall_after: 0) { agent(scenario).ask("Hi", deadline_at: Time.now + 0.2) }
    assert_predicate run, :partial?
    assert_empty scenario.requests
  end
end
