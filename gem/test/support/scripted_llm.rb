# frozen_string_literal: true

require "json"
require "net/http"

# The scripted LLM server of tests/support, one process for the whole test run.
class ScriptedLLM
  BINARY = ENV.fetch("LITTLE_GHOST_SCRIPTED_LLM") { File.expand_path("../../../target/debug/scripted-llm", __dir__) }

  # One script: what the server answers, and what it saw.
  class Scenario
    attr_reader :base_url

    def initialize(server, id, base_url)
      @server = server
      @id = id
      @base_url = base_url
    end

    # The journal's requests, once it has at least this many.
    def wait(**counts)
      query = URI.encode_www_form({timeout_ms: 5000}.merge(counts))
      response = @server.get("/_scenarios/#{@id}/wait?#{query}")
      raise "not seen by the server: #{counts}: #{response.body}" unless response.is_a?(Net::HTTPOK)

      JSON.parse(response.body).fetch("requests")
    end

    def requests
      JSON.parse(@server.get("/_scenarios/#{@id}/journal").body).fetch("requests")
    end

    def signal(label)
      @server.post("/_scenarios/#{@id}/signal", {label: label})
    end
  end

  def self.instance
    @instance ||= new
  end

  attr_reader :address

  def initialize
    raise "#{BINARY} is missing; run `cargo build -p scripted-llm`" unless File.executable?(BINARY)

    @input, output = IO.popen([BINARY], "r+").then { |io| [io, io] }
    @address = output.gets[%r{http://\S+}] or raise "the scripted server did not start"
  end

  # A scenario of +exchanges+; see tests/support/README.md.
  def script(*exchanges, **options)
    response = post("/_scenarios", options.merge(exchanges: exchanges))
    raise response.body unless response.is_a?(Net::HTTPSuccess)

    answer = JSON.parse(response.body)
    Scenario.new(self, answer.fetch("id"), answer.fetch("base_url"))
  end

  def get(path)
    Net::HTTP.get_response(URI(address + path))
  end

  def post(path, body)
    Net::HTTP.post(URI(address + path), JSON.generate(body), "content-type" => "application/json")
  end
end
