# frozen_string_literal: true

require "socket"
require "uri"

# Answers each request with what its block returns: a status and a body. Closes each connection afterwards.
class LoopbackServer
  Request = Data.define(:method, :path, :headers, :body) do
    def form = URI.decode_www_form(body).to_h
  end

  attr_reader :requests

  # Yields a server, which ends with the block.
  def self.open(answer)
    server = new(answer)
    yield server
  ensure
    server&.close
  end

  def initialize(answer)
    @answer = answer
    @requests = Queue.new
    @socket = TCPServer.new("127.0.0.1", 0)
    @thread = Thread.new { loop { Thread.new(@socket.accept) { |client| serve(client) } } }
    @thread.report_on_exception = false
  end

  def url = "http://127.0.0.1:#{@socket.addr[1]}"

  # What arrived since the last time.
  def taken
    Array.new(@requests.size) { @requests.pop }
  end

  def close
    @thread.kill.join
    @socket.close
  end

  private

  def serve(client)
    method, path = client.gets.split
    headers = {}
    while (line = client.gets.chomp) != ""
      name, value = line.split(": ", 2)
      headers[name.downcase] = value
    end
    request = Request.new(method, path, headers, client.read(headers.fetch("content-length", 0).to_i))
    @requests << request
    status, body = @answer.call(request)
    client.write("HTTP/1.1 #{status} -\r\ncontent-length: #{body.bytesize}\r\nconnection: close\r\n\r\n#{body}")
  ensure
    client.close
  end
end
