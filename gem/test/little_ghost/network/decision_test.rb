# frozen_string_literal: true

require "test_helper"

class NetworkDecisionTest < Minitest::Test
  Decision = LittleGhost::Network::Decision
  Request = LittleGhost::Network::Request

  def test_decisions_are_normalized
    allowed = Decision.allow(set_headers: {Authorization: "Bearer hush"}, remove_headers: ["X-Trace"])
    assert_equal([true, 200, nil], [allowed.allowed, allowed.status, allowed.reason])
    assert_equal({"authorization" => "Bearer hush"}, allowed.set_headers)
    assert_equal ["x-trace"], allowed.remove_headers
    refute_includes allowed.inspect, "hush"
    assert_predicate allowed.set_headers, :frozen?

    denied = Decision.deny(status: 451, reason: "not here")
    refute_predicate denied, :allowed?
    assert_equal [451, "not here"], [denied.status, denied.reason]
    assert_equal 403, Decision.deny.status
    assert_equal Decision.deny, Decision.new(allowed: false, status: 403)
  end

  def test_impossible_decisions_are_refused
    assert_raises(ArgumentError) { Decision.deny(status: 302) }
    assert_raises(ArgumentError) { Decision.deny(reason: "two\nlines") }
    assert_raises(ArgumentError) { Decision.new(allowed: true, status: 500) }
    assert_raises(ArgumentError) { Decision.new(allowed: false, status: 403, set_headers: {"a" => "b"}) }
    assert_raises(ArgumentError) { Decision.allow(set_headers: {"Host" => "evil.example"}) }
    error = assert_raises(ArgumentError) { Decision.allow(set_headers: {"a" => "hush\r\nb: c"}) }
    refute_includes error.message, "hush"
  end

  def test_requests_are_normalized
    request = Request.new(
      method: "get", scheme: "HTTPS", host: "API.example.com", port: 443, path: "/a?token=hush", headers: {"X-A" => "hush"}
    )
    assert_equal ["GET", "https", "api.example.com", 443], [request.method, request.scheme, request.host, request.port]
    assert_equal({"x-a" => "hush"}, request.headers)
    assert_equal "/a?token=hush", request.path
    refute_includes request.inspect, "hush"
    assert_raises(ArgumentError) { request.with(port: 0) }
  end
end
