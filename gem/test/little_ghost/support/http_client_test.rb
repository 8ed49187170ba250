# frozen_string_literal: true

require_relative "../../test_helper"
require "socket"

class HTTPClientTest < Minitest::Test
  include ScriptedRuns

  # A server for one request at a time; the block gets the connection and the request's text.
  def serve(&handler)
    @server = TCPServer.new("127.0.0.1", 0)
    @thread = Thread.new do
      loop do
        socket = @server.accept
        head = +""
        head << socket.readpartial(4_096) until head.include?("\r\n\r\n")
        length = head[/content-length: (\d+)/i, 1].to_i
        body = head.split("\r\n\r\n", 2).last
        body << socket.readpartial(4_096) while body.bytesize < length
        handler.call(socket, "#{head.split("\r\n\r\n", 2).first}\r\n\r\n#{body}")
        socket.close
      rescue IOError, SystemCallError
        break if @server.closed?
      end
    end
    @thread.report_on_exception = false
    client
  end

  def client(**options)
    LittleGhost::Support::HTTPClient.new(base_url: "http://127.0.0.1:#{@server.addr[1]}/v1", allow_insecure_http: true, **options)
  end

  def teardown
    return unless @server

    @server.close
    @thread.kill.join
  end

  def answer(socket, body, status: "200 OK", headers: "")
    socket.write("HTTP/1.1 #{status}\r\nContent-Length: #{body.bytesize}\r\n#{headers}\r\n#{body}")
  end

  def test_requests
    seen = nil
    client = serve { |socket, request| seen = request; answer(socket, "fine") }
    assert_equal "fine", client.request(uri: "things?id=1", headers: {"X-Key" => "k", "X-Empty" => ""})
    assert_match(%r{\AGET /v1/things\?id=1 HTTP/1\.1}, seen)
    assert_match(/^x-key: k/i, seen)
    refute_match(/x-empty/i, seen)
    assert_equal ["fine"], client.stream(path: "/post", headers: {}, body: "{}", cancellation_token: nil).to_a
    assert_match(%r{\APOST /v1/post}, seen)
    assert_match(/\{\}\z/, seen)
    assert_equal "fine", client.request(uri: "http://127.0.0.1:#{@server.addr[1]}/elsewhere", method: "put", body: "x")
    assert_match(%r{\APUT /elsewhere}, seen)
  end

  def test_errors
    client = serve { |socket, _| answer(socket, "x" * 9_000, status: "503 Busy", headers: "Location: http://other\r\n") }
    error = assert_raises(LittleGhost::Providers::HTTPError) { client.request(uri: "a") }
    assert_equal [503, 4_096, true], [error.status, error.body.bytesize, error.retryable?]
    refute_match(/xxx/, error.message)
    @server.close
    refused = LittleGhost::Support::HTTPClient.new(base_url: "http://127.0.0.1:1/", allow_insecure_http: true)
    error = assert_raises(LittleGhost::Providers::HTTPError) { refused.request(uri: "a") }
    assert_equal [nil, true], [error.status, error.message.include?("ECONNREFUSED")]
  end

  def test_limits
    serve { |socket, _| answer(socket, "x" * 100) }
    assert_raises(LittleGhost::ProtocolError) { client(max_response_bytes: 99).request(uri: "a") }
    assert_equal 100, client(max_response_bytes: 100).request(uri: "a").bytesize
  end

  def test_redirects_are_not_followed
    client = serve { |socket, _| answer(socket, "", status: "302 Found", headers: "Location: /other\r\n") }
    assert_equal 302, assert_raises(LittleGhost::Providers::HTTPError) { client.request(uri: "a") }.status
  end

  def test_cancelling_and_deadlines_end_a_silent_response
    release = Thread::Queue.new
    client = serve { |socket, _| socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"); release.pop }
    token = LittleGhost::Support::CancellationToken.new
    assert_quick(1) do
      assert_raises(LittleGhost::CancelledError) { client.each_chunk(uri: "a", cancellation_token: token) { token.cancel } }
    end
    release << 1
    assert_quick(1) { assert_raises(LittleGhost::DeadlineExceededError) { client.request(uri: "a", deadline: Time.now + 0.1) } }
  ensure
    2.times { release << 1 }
  end

  def test_addresses
    secure = LittleGhost::Support::HTTPClient.new
    error = assert_raises(LittleGhost::ConfigurationError) { secure.request(uri: "http://127.0.0.1:1/?key=sk-hidden") }
    refute_match(/sk-hidden/, error.message)
    ["ftp://a/b", "relative", "http://", "http://[bad"].each { |uri| assert_raises(ArgumentError, uri) { secure.request(uri: uri) } }
  end
end
