# frozen_string_literal: true

# One measurement in Ruby: bench.rb SIDE MEASUREMENT BASE_URL COUNT. Prints one JSON line.
require "json"
require "tmpdir"
require_relative "plain" if ARGV[0] == "plain"
require "little_ghost" if ARGV[0] == "ours"

side, measurement, base_url, count = ARGV
COUNT = Integer(count)

def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
def resident = Integer(File.read("/proc/self/statm").split[1]) * 4096
def report(**values) = puts(JSON.generate(values))

def cpu_of(units)
  before = cpu
  yield
  report(microseconds: (cpu - before) * 1e6 / units)
end

HISTORY = Array.new(100) { |index| {role: index.even? ? "user" : "assistant", content: "Message #{index}. " * 20} }.freeze
LARGE = ("0123456789abcde\n" * 65_536).freeze
TURN = [{role: "user", content: "How long does shipping take? " * 4}, {role: "assistant", content: "Three days. " * 10}].freeze

def agent(base_url, answer: nil)
  configuration = LittleGhost::Configuration.new(
    providers: {scripted: {adapter: :openai_compatible, api_key: "test", base_url: base_url, api: :chat_completions}}
  )
  lookup = LittleGhost::Tool.define(
    name: "help_center_lookup", description: "Look up a help center entry by topic.",
    input_schema: {type: "object", properties: {topic: {type: "string"}}, required: ["topic"], additionalProperties: false}
  ) { |input| answer || "#{input.fetch("topic")}: within 30 days." }
  Class.new(LittleGhost::Agent) {
    agent_id "support"
    limits max_tool_result_tokens: 1_000_000
    model "scripted:scripted-model"
    system_prompt "Answer clearly."
    tools lookup
  }.new(runtime: LittleGhost::Runtime.new(configuration: configuration))
end

# Three agents in a row.
def graph(base_url)
  support = agent(base_url)
  Class.new(LittleGhost::Graph) {
    assembly_id "support_flow"
    %i[triage research respond].each { |name| node name, support.class }
    start :triage
    edge :triage, :research
    edge :research, :respond
    finish :respond
  }.new(runtime: support.runtime)
end

case [side, measurement]
in ["plain", "deltas"]
  client = PlainClient.new(base_url)
  messages = [{role: "user", content: "Hello"}]
  client.text(messages) { |text| text }
  seen = 0
  cpu_of(COUNT) { client.text(messages) { |text| seen += text.bytesize } }
in ["ours", "deltas"]
  support = agent(base_url)
  support.stream_ask("Hello").each { |event| event }
  seen = 0
  cpu_of(COUNT) do
    support.stream_ask("Hello").each { |event| seen += event.data[:text].bytesize if event.type == :text_delta }
  end
in ["plain", "runs"]
  client = PlainClient.new(base_url)
  100.times { client.run_with_tool }
  cpu_of(COUNT) { COUNT.times { client.run_with_tool } }
in ["ours", "runs"]
  support = agent(base_url)
  100.times { support.ask("Can I get a refund?") }
  cpu_of(COUNT) { COUNT.times { raise "failed" unless support.ask("Can I get a refund?").completed? } }
in ["plain", "history"]
  client = PlainClient.new(base_url)
  20.times { client.answer(HISTORY) }
  cpu_of(COUNT) { COUNT.times { client.answer(HISTORY) } }
in ["ours", "history"]
  support = agent(base_url)
  20.times { support.ask("Hello", history: HISTORY) }
  cpu_of(COUNT) { COUNT.times { raise "failed" unless support.ask("Hello", history: HISTORY).completed? } }
in ["plain", "large"]
  client = PlainClient.new(base_url)
  5.times { client.run_with_tool { LARGE } }
  cpu_of(COUNT) { COUNT.times { client.run_with_tool { LARGE } } }
in ["ours", "large"]
  support = agent(base_url, answer: LARGE)
  5.times { support.ask("Can I get a refund?") }
  cpu_of(COUNT) { COUNT.times { raise "failed" unless support.ask("Can I get a refund?").completed? } }
in ["plain", "session"]
  Dir.mktmpdir do |folder|
    session = PlainSession.new(File.join(folder, "session.json"))
    cpu_of(COUNT) { COUNT.times { session.append(TURN) } }
  end
in ["ours", "session"]
  Dir.mktmpdir do |folder|
    store = LittleGhost::SessionStores::Filesystem.new(root: File.join(folder, "sessions"))
    session = LittleGhost::Session.new(id: "conversation", actor_id: "user", store: store)
    turn = TURN.map { |message| LittleGhost::Message.new(**message) }
    cpu_of(COUNT) { COUNT.times { session.append(messages: turn) } }
  end
in ["ours", "memory"]
  support = agent(base_url)
  (COUNT / 10).times { support.ask("Can I get a refund?") }
  GC.start
  first = resident
  COUNT.times { support.ask("Can I get a refund?") }
  GC.start
  report(first: first, last: resident)
in ["ours", "agents"]
  support = agent(base_url)
  50.times { support.ask("Can I get a refund?") }
  cpu_of(COUNT) { COUNT.times { 3.times { raise "failed" unless support.ask("Can I get a refund?").completed? } } }
in ["ours", "graph"]
  flow = graph(base_url)
  50.times { flow.ask("Can I get a refund?") }
  cpu_of(COUNT) { COUNT.times { raise "failed" unless flow.ask("Can I get a refund?").completed? } }
in ["ours", "graph_memory"]
  flow = graph(base_url)
  COUNT.times { flow.ask("Can I get a refund?") }
  GC.start
  first = resident
  COUNT.times { flow.ask("Can I get a refund?") }
  GC.start
  report(first: first, last: resident)
in ["ours", "open"]
  require "async"
  limit = Process.getrlimit(:NOFILE)
  Process.setrlimit(:NOFILE, [COUNT * 4, limit[1]].min, limit[1])
  support = agent(base_url)
  open = 0
  Async do |task|
    tasks = COUNT.times.map do
      task.async do
        support.stream_ask("Hello").each do |event|
          next unless event.type == :text_delta
          open += 1
          if open == COUNT
            report(resident: resident)
            $stdout.flush
            exit!(true)
          end
        end
      end
    end
    tasks.each(&:wait)
  end
in ["ours", "cancel"]
  require "net/http"
  server = URI(base_url)
  scenario = server.path[%r{/s/([^/]+)/}, 1]
  support = agent(base_url)
  times = COUNT.times.map do |index|
    left = nil
    support.stream_ask("Hello").each do |event|
      next unless event.type == :text_delta
      left = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      break
    end
    Net::HTTP.get(server.host, "/_scenarios/#{scenario}/wait?disconnects=#{index + 1}&timeout_ms=5000", server.port)
    (Process.clock_gettime(Process::CLOCK_MONOTONIC) - left) * 1e3
  end
  report(milliseconds: times.max)
end
