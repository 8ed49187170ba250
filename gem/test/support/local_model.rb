# frozen_string_literal: true

# The real model on loopback, one server for the whole test run.
module LocalModel
  SERVE = File.expand_path("../../../tests/support/local-model/serve.py", __dir__)
  # What agents call it.
  NAME = "local:qwen2.5-coder-0.5b-instruct"
  FORMATS = {
    chat_completions: {adapter: :openai_compatible, api: :chat_completions},
    responses: {adapter: :openai_compatible, api: :responses},
    messages: {adapter: :anthropic, api_key: nil}
  }.freeze

  module_function

  # A Runtime whose connection +local+ is the server, by one of FORMATS.
  def runtime(format = :chat_completions)
    connection = {base_url: base_url, **FORMATS.fetch(format)}
    LittleGhost::Runtime.new(configuration: LittleGhost::Configuration.new(providers: {local: connection}))
  end

  def base_url
    @base_url ||= begin
      model = ENV.fetch("LITTLE_GHOST_LOCAL_MODEL") { raise "set LITTLE_GHOST_LOCAL_MODEL: run `make test`" }
      # It ends when this process does, which holds its input.
      @server = IO.popen([ENV.fetch("VENV_PYTHON", "python3"), SERVE, model, "0"], "r+")
      line = @server.gets until line&.start_with?("listening ") || @server.eof?
      raise "the model's server ended" unless line&.start_with?("listening ")

      "#{line.split[1]}/v1/"
    end
  end
end
