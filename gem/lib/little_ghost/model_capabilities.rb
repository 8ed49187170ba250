# frozen_string_literal: true

module LittleGhost
  # The optional features of a model. A +supported_parameters+ of nil means that no list restricts them; ask
  # known? before you take that for evidence.
  class ModelCapabilities < Data.define(:native_structured_output, :tools, :tool_choice, :supported_parameters, :known)
    # Anything may be given for the flags. Names of parameters become Strings, each once.
    def initialize(native_structured_output: false, tools: false, tool_choice: false, supported_parameters: nil, known: true)
      super(
        native_structured_output: !!native_structured_output, tools: !!tools, tool_choice: !!tool_choice,
        supported_parameters: supported_parameters&.map(&:to_s)&.uniq&.freeze, known: !!known
      )
    end

    class << self
      # Every feature, without restriction.
      def permissive
        new(native_structured_output: true, tools: true, tool_choice: true)
      end

      # No feature, because nothing is known.
      def unknown
        new(known: false)
      end

      # What the facts about a model say: its +supported_parameters+, or else unknown.
      def from_details(metadata) # :nodoc:
        list = metadata[:supported_parameters] || metadata["supported_parameters"]
        return unknown if list.nil?

        names = list.map(&:to_s)
        new(
          native_structured_output: names.include?("structured_outputs") || names.include?("response_format"),
          tools: names.include?("tools"), tool_choice: names.include?("tool_choice"), supported_parameters: names
        )
      end
    end

    # Whether the values come from facts rather than from their absence.
    def known? = known

    # Whether the model takes a schema for its whole answer.
    def native_structured_output? = native_structured_output

    # Whether the model takes tools.
    def tools? = tools

    # Whether the model takes an explicit choice of tool.
    def tool_choice? = tool_choice

    # Whether the list has any of +names+, or there is no list.
    def supports_parameter?(*names)
      supported_parameters.nil? || names.any? { |name| supported_parameters.include?(name.to_s) }
    end
  end
end
