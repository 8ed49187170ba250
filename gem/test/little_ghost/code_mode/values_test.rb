# frozen_string_literal: true

require "test_helper"
require "stringio"

class CodeModeValuesTest < Minitest::Test
  include ScriptedRuns

  CodeMode = LittleGhost::CodeMode

  def registry
    add = define_tool("add-up", a: {type: "integer"}, b: {type: "integer"}) { |input| {sum: input["a"] + input["b"]} }
    fail_tool = define_tool("fail") { |_input| raise LittleGhost::ToolError, "not today" }
    LittleGhost::ToolRegistry.new([add, fail_tool])
  end

  def test_the_broker_decides_what_a_call_is
    broker = CodeMode::Broker.new(registry: registry, except: ["other"])
    assert_equal %w[add-up fail], broker.catalog.map { |tool| tool["name"] }
    called = broker.call("tools.add-up", {"a" => 1, "b" => 2}, id: "7")
    assert_equal ["7", {sum: 3}, nil], [called.id, called.value, called.error]
    assert_equal "not today", broker.call("fail").error
    assert_match(/not available/, broker.call("exec").error)
    assert_match(/must be an object/, broker.call("fail", [1]).error)
    refute_nil broker.call("add-up", {"a" => "x"}).error
    assert_match(/not available/, CodeMode::Broker.new(registry: registry, except: ["fail"]).call("fail").error)
    assert_raises(ArgumentError) { CodeMode::Broker.new }
  end

  def test_a_broker_with_a_limit_and_a_dispatch
    seen = []
    broker = CodeMode::Broker.new(registry: registry, dispatch: ->(tool_use) { seen << tool_use.name; tool_use.input["a"] }, max_calls: 1)
    assert_equal 5, broker.call("add-up", {"a" => 5}).value
    assert_match(/limit/, broker.call("add-up").error)
    assert_equal ["add-up"], seen
  end

  def test_catalogs
    specifications = CodeMode::Broker.new(registry: registry).catalog
    catalog = CodeMode::Catalog.new(specifications, normalize: ->(name) { name.tr("-", "_") })
    assert_equal %w[add_up fail], catalog.definitions.map { |tool| tool["name"] }
    found = catalog.fetch("add_up")
    assert_equal ["add-up", "Does add-up."], found.values_at("canonical_name", "description")
    assert_equal "object", found["input_schema"]["type"]
    assert_equal "add-up", found["specification"]["name"]
    assert catalog.key?(:add_up) && found.frozen?
    refute catalog.key?("add-up")
    assert_raises(KeyError) { catalog.fetch("add-up") }
    assert_raises(LittleGhost::ConfigurationError) { CodeMode::Catalog.new(specifications, normalize: ->(_) { "same" }) }
    assert_raises(LittleGhost::ConfigurationError) { CodeMode::Catalog.new(specifications, normalize: ->(name) { name.sub("fail", "wait") }) }
  end

  def test_frames
    protocol = CodeMode::Protocol
    value = {"type" => "text", "value" => "é", "list" => [1, 2.5, nil]}
    frame = protocol.dump(value)
    assert_equal Encoding::BINARY, frame.encoding
    assert_equal frame.bytesize - 4, frame.unpack1("N")
    buffer = frame + frame.byteslice(0, 6)
    assert_equal value, protocol.extract!(buffer)
    assert_nil protocol.extract!(buffer)
    assert_equal 6, buffer.bytesize
    io = StringIO.new("".b)
    2.times { protocol.write(io, value) }
    io.rewind
    assert_equal [value, value, nil], [protocol.read(io), protocol.read(io), protocol.read(io)]
    long = [protocol::MAX_FRAME_BYTES + 1].pack("N")
    [long, "\0\0\0\2{]".b, "\0\0".b, "\0\0\0\5ab".b].each do |bytes|
      assert_raises(protocol::Error, bytes.inspect) { protocol.read(StringIO.new(bytes)) }
    end
    assert_raises(protocol::Error) { protocol.extract!(long) }
  end

  def test_results
    result = CodeMode::ProgramResult.new
    assert_equal ["", nil, :completed, nil, []], [result.output, result.value, result.status, result.error, result.artifacts]
    assert_predicate result, :completed?
    assert_predicate CodeMode::ProgramResult.new(status: "still_working"), :still_working?
  end

  def test_engines_by_name
    assert_same CodeMode.resolve_engine(:ruby), CodeMode.resolve_engine("ruby")
    assert_equal [:ruby, :javascript], %i[ruby javascript].map { |name| CodeMode.resolve_engine(name).language }
    own = Class.new(CodeMode::Engine) { def language = :lua }
    CodeMode.register_engine(:lua_for_tests, own)
    assert_equal :lua, CodeMode.resolve_engine(:lua_for_tests).language
    engine = own.new
    assert_same engine, CodeMode.resolve_engine(engine)
    assert_raises(LittleGhost::ConfigurationError) { CodeMode.resolve_engine(:cobol) }
    assert_raises(LittleGhost::ConfigurationError) { CodeMode.resolve_engine(3) }
    assert_raises(ArgumentError) { CodeMode.register_engine(:wrong, "ruby") }
    assert_raises(LittleGhost::AbstractMethodError) { own.new.instructions(catalog: []) }
    assert_raises(LittleGhost::AbstractMethodError) { CodeMode::Session.new.close }
  end

  def test_limits_and_instructions_of_the_own_engines
    assert_equal [8, 3_600], CodeMode::RubyEngine::DEFAULT_LIMITS.values_at(:programs, :wall_seconds)
    assert_equal 8, CodeMode::JavascriptEngine::DEFAULT_LIMITS[:max_concurrency]
    catalog = CodeMode::Broker.new(registry: registry).catalog
    assert_match(/tools\.add_up\(/, CodeMode::RubyEngine.new.instructions(catalog: catalog))
    assert_match(/add_up/, CodeMode::JavascriptEngine.new.instructions(catalog: catalog))
  end

  def test_javascript_needs_no_other_gem
    program = 'require "little_ghost/code_mode/javascript_engine"; print LittleGhost::CodeMode::JavascriptEngine.new.language'
    assert_equal "javascript", IO.popen([RbConfig.ruby, "-Igem/lib", "-I#{File.expand_path("../../../lib", __dir__)}", "-e", program], &:read)
  end
end
