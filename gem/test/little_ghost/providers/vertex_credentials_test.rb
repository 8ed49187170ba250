# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/loopback_server"
require "json"
require "tmpdir"

class VertexCredentialsTest < Minitest::Test
  Resolver = LittleGhost::Providers::VertexAI::CredentialResolver

  def test_an_explicit_token_is_returned_as_it_is
    resolver = Resolver.new(environment: {}, access_token: "hush-token")
    assert_equal "hush-token", resolver.call
    refute_includes resolver.inspect, "hush"
  end

  def test_a_user_of_gcloud_is_found_and_the_token_remembered_until_the_clock_says_otherwise
    with_user(->(_) { [200, JSON.generate(access_token: "hush-#{Random.hex(4)}", expires_in: 600)] }) do |environment, server|
      now = 1_000_000
      resolver = Resolver.new(environment: environment, clock: -> { now })
      first = resolver.call
      now += 500
      assert_equal first, resolver.call
      now += 50
      refute_equal first, resolver.call
      form = server.taken.first.form
      assert_equal({"grant_type" => "refresh_token", "client_id" => "client", "client_secret" => "hush-client",
        "refresh_token" => "hush-refresh"}, form)
    end
  end

  def test_threads_share_one_request
    answer = lambda do |_|
      [200, JSON.generate(access_token: "hush-token", expires_in: 600)]
    end
    with_user(answer) do |environment, server|
      resolver = Resolver.new(environment: environment)
      tokens = Array.new(10) { Thread.new { resolver.call } }.map(&:value)
      assert_equal ["hush-token"], tokens.uniq
      assert_equal 1, server.taken.length
    end
  end

  def test_nothing_found_says_what_was_tried
    error = assert_raises(LittleGhost::CredentialError) { Resolver.new(environment: {"NO_GCE_CHECK" => "true"}).call }
    assert_includes error.message, "GOOGLE_APPLICATION_CREDENTIALS: it is not set"
    assert_includes error.message, "NO_GCE_CHECK is true"
  end

  def test_a_wait_ends_with_its_deadline_or_when_it_is_cancelled
    release = Queue.new
    slow = lambda do |_|
      release.pop
      [200, JSON.generate(access_token: "hush-token", expires_in: 600)]
    end
    with_user(slow) do |environment, server|
      resolver = Resolver.new(environment: environment)
      assert_raises(LittleGhost::DeadlineExceededError) { resolver.call(deadline: Time.now + 0.02) }
      token = LittleGhost::Support::CancellationToken.new
      waiting = Thread.new { resolver.call(cancellation_token: token) }
      waiting.report_on_exception = false
      token.cancel
      assert_raises(LittleGhost::CancelledError) { waiting.value }
      release << true
      assert_equal "hush-token", resolver.call
      assert_equal 1, server.taken.length
    end
  end

  def test_a_forked_child_does_not_wait_for_what_its_parent_began
    release = Queue.new
    asked = 0
    answer = lambda do |_|
      release.pop if (asked += 1) == 1
      [200, JSON.generate(access_token: "hush-token", expires_in: 600)]
    end
    with_user(answer) do |environment, server|
      resolver = Resolver.new(environment: environment)
      waiting = Thread.new { resolver.call }
      server.requests.pop # the parent's has arrived
      child = fork { exit!((resolver.call == "hush-token") ? 0 : 1) }
      Process.wait(child)
      assert_predicate $?, :success?
      release << true
      assert_equal "hush-token", waiting.value
    end
  end

  private

  def with_user(answer)
    Dir.mktmpdir do |home|
      LoopbackServer.open(answer) do |server|
        path = File.join(home, "user.json")
        File.write(path, JSON.generate(type: "authorized_user", client_id: "client", client_secret: "hush-client",
          refresh_token: "hush-refresh", token_uri: server.url))
        yield({"GOOGLE_APPLICATION_CREDENTIALS" => path}, server)
      end
    end
  end
end
