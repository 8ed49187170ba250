# frozen_string_literal: true

# The loop one would write without a library: Net::HTTP and JSON, one connection kept alive.
require "json"
require "net/http"

class PlainClient
  def initialize(base_url)
    @base = URI(base_url)
    @http = Net::HTTP.start(@base.host, @base.port)
  end

  # Yields each decoded chunk of one streamed chat completion.
  def stream(messages, tools = nil)
    request = Net::HTTP::Post.new("#{@base.path}chat/completions",
      "content-type" => "application/json", "accept" => "text/event-stream", "authorization" => "Bearer test")
    body = {model: "scripted-model", stream: true, messages: messages, stream_options: {include_usage: true}}
    body[:tools] = tools if tools
    request.body = JSON.generate(body)
    @http.request(request) do |response|
      buffer = +""
      response.read_body do |chunk|
        buffer << chunk
        while (index = buffer.index("\n\n"))
          frame = buffer.slice!(0, index + 2)
          data = frame.delete_prefix("data: ").chomp!("\n\n")
          yield JSON.parse(data) unless data == "[DONE]"
        end
      end
    end
  end

  def text(messages)
    stream(messages) do |chunk|
      delta = chunk["choices"].first&.dig("delta", "content")
      yield delta if delta
    end
  end

  TOOLS = [{type: "function", function: {
    name: "help_center_lookup", description: "Look up a help center entry by topic.",
    parameters: {type: "object", properties: {topic: {type: "string"}}, required: ["topic"], additionalProperties: false}
  }}].freeze

  # One answer to a conversation of +history+ and a question.
  def answer(history)
    text = +""
    text([*history, {role: "user", content: "Hello"}]) { |delta| text << delta }
    text
  end

  # One run with one tool: two model calls. The block is the tool.
  def run_with_tool
    messages = [{role: "system", content: "Answer clearly."}, {role: "user", content: "Can I get a refund?"}]
    loop do
      answer = +""
      calls = {}
      stream(messages, TOOLS) do |chunk|
        delta = chunk["choices"].first&.fetch("delta", nil) or next
        answer << delta["content"] if delta["content"]
        (delta["tool_calls"] || []).each do |call|
          entry = (calls[call["index"]] ||= {id: +"", name: +"", arguments: +""})
          entry[:id] << call["id"] if call["id"]
          entry[:name] << call.dig("function", "name").to_s
          entry[:arguments] << call.dig("function", "arguments").to_s
        end
      end
      return answer if calls.empty?
      messages << {role: "assistant", content: answer, tool_calls: calls.values.map { |call|
        {id: call[:id], type: "function", function: {name: call[:name], arguments: call[:arguments]}}
      }}
      calls.each_value do |call|
        topic = JSON.parse(call[:arguments]).fetch("topic")
        content = block_given? ? yield(topic) : "#{topic}: within 30 days."
        messages << {role: "tool", tool_call_id: call[:id], content: content}
      end
    end
  end
end

# A conversation in a file, as one would keep it: read, change, write beside it, rename.
class PlainSession
  def initialize(path)
    @path = path
  end

  def append(messages)
    stored = File.exist?(@path) ? JSON.parse(File.read(@path)) : []
    temporary = "#{@path}.tmp"
    File.open(temporary, "w", 0o600) do |file|
      file.write(JSON.generate(stored + messages))
      file.fsync
    end
    File.rename(temporary, @path)
  end
end
