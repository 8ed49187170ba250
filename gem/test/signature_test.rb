# frozen_string_literal: true

require_relative "test_helper"
require "rbs"

# The signatures are valid, and everything they name exists with fitting parameters.
class SignatureTest < Minitest::Test
  SIGNATURES = File.expand_path("../sig", __dir__)
  PREFIX = "LittleGhost"

  def environment
    loader = RBS::EnvironmentLoader.new
    loader.add(path: Pathname(SIGNATURES))
    RBS::Environment.from_loader(loader).resolve_type_names
  end

  def test_everything_that_is_signed_exists
    checked = 0
    environment.class_decls.each do |type_name, entry|
      name = type_name.to_s.delete_prefix("::")
      next unless name == PREFIX || name.start_with?("#{PREFIX}::")

      constant = Object.const_get(name)
      entry.decls.map(&:decl).each do |declaration|
        assert_superclass(constant, declaration) if declaration.respond_to?(:super_class)
        declaration.members.each { |member| checked += 1 if assert_member(constant, member) }
      end
    end
    assert_operator checked, :>, 250
  end

  def test_everything_that_is_public_is_signed
    signed = environment.class_decls.to_h do |name, entry|
      members = entry.decls.flat_map { |decl| decl.decl.members }
      [name.to_s.delete_prefix("::"), members.flat_map { |member| method_names(member) }]
    end
    own = [LittleGhost::Agent, LittleGhost::Run, LittleGhost::Tool, LittleGhost::Execution, LittleGhost::RunContext,
      LittleGhost::ToolRegistry, LittleGhost::Usage, LittleGhost::Message, LittleGhost::EventStream, LittleGhost::Configuration,
      LittleGhost::Session, LittleGhost::SessionStore]
    internal = %i[inspect bind declaration definition start snapshot open_entrypoint tool_context close_resource take_result
      settle finish tool_values usage_so_far entrypoint around owner result_of parts provider_parts engine own closes_nothing? when_closable premises resolved seal forget key add to_engine persisted write_append write_replace native]
    own.each do |type|
      inherited = type.ancestors.flat_map { |ancestor| signed.fetch(ancestor.name, []) }
      assert_empty type.public_instance_methods(false) - inherited - internal, type.name
    end
  end

  private

  def method_names(member)
    case member
    when RBS::AST::Members::AttrAccessor then [member.name, :"#{member.name}="]
    when RBS::AST::Members::AttrReader, RBS::AST::Members::MethodDefinition then [member.name]
    else []
    end
  end

  def assert_superclass(constant, declaration)
    return if declaration.super_class.nil?

    expected = declaration.super_class.name.to_s.split("::").last
    assert_includes constant.ancestors.map { |ancestor| ancestor.name.to_s.split("::").last }, expected, constant.name
  end

  def assert_member(constant, member)
    case member
    when RBS::AST::Members::MethodDefinition then assert_method(constant, member)
    when RBS::AST::Members::AttrAccessor then assert constant.method_defined?(:"#{member.name}="), "#{constant}##{member.name}="
    when RBS::AST::Members::AttrReader then assert constant.method_defined?(member.name), "#{constant}##{member.name}"
    when RBS::AST::Members::Include then assert_includes constant.ancestors.map(&:name), member.name.to_s.delete_prefix("::")
    when RBS::AST::Declarations::Constant then assert constant.const_defined?(member.name.to_s.split("::").last)
    end
  end

  def assert_method(constant, member)
    label = "#{constant}#{member.singleton? ? "." : "#"}#{member.name}"
    found = if member.singleton?
      assert_respond_to constant, member.name, label
      constant.method(member.name == :new ? :new : member.name)
    else
      assert constant.method_defined?(member.name) || constant.private_method_defined?(member.name), label
      constant.instance_method(member.name)
    end
    assert_keywords(label, found, member) unless member.name == :new
    true
  end

  def assert_keywords(label, method, member)
    return if method.parameters.any? { |kind, _| kind == :keyrest } || method.arity == -1 && method.parameters.all? { |kind, _| kind == :rest }

    actual = method.parameters.filter_map { |kind, name| name if %i[key keyreq].include?(kind) }
    signed = member.overloads.flat_map do |overload|
      function = overload.method_type.type
      function.required_keywords.keys + function.optional_keywords.keys
    end
    assert_empty signed.uniq - actual, label
  end
end
