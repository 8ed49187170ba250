# frozen_string_literal: true

# Ruby programs of their own, for what cannot be tried inside the test process.
module Subprocess
  PRELUDE = <<~RUBY
    require "little_ghost"
    $stdout.sync = true
    # A parent in the background may have handed down an ignored Ctrl-C.
    trap("INT", "DEFAULT")
    CONFIGURATION = LittleGhost::Configuration.new(
      providers: {scripted: {adapter: :openai_compatible, api: "chat_completions", api_key: "k", base_url: ENV["BASE_URL"], allow_insecure_http: true}},
      models: {default: {target: "scripted:test-model"}}
    )
    class Tester < LittleGhost::Agent
      system_prompt "Be brief."
    end
    RUNTIME = LittleGhost::Runtime.new(configuration: CONFIGURATION)
    AGENT = Tester.new(runtime: RUNTIME)
  RUBY

  # Seconds after which a program that hangs is killed, so that its test fails instead of hanging too.
  PATIENCE = 60

  # Runs +program+ with AGENT bound to +scenario+; yields its pipe, returns [remaining output, status].
  def ruby(scenario, program)
    environment = {"BASE_URL" => scenario.base_url}
    library = File.expand_path("../../lib", __dir__)
    io = IO.popen([environment, RbConfig.ruby, "-I", library, "-e", PRELUDE + program, err: %i[child out]])
    watchdog = Thread.new { Process.kill(:KILL, io.pid) if sleep(PATIENCE) }
    yield io if block_given?
    output = io.read
    io.close
    [output, $?]
  ensure
    watchdog&.kill
  end
end
