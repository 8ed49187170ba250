# frozen_string_literal: true

module LittleGhost
  class Agent
    # Answers that are checked values instead of prose.
    #
    #   class SupportTriageAgent < LittleGhost::Agent
    #     result_schema(
    #       name: "support_triage", type: "object", properties: {urgent: {type: "boolean"}},
    #       required: ["urgent"], additionalProperties: false
    #     )
    #   end
    #
    #   SupportTriageAgent.ask("My package is missing.").result.output.fetch("urgent")
    module StructuredResults # :nodoc:
      # What agent classes declare.
      module ClassMethods # :nodoc:
        # Declares the JSON object that the agent must return, as a Hash or as keywords; without arguments the
        # declaration in force, or nil. Every object must set +additionalProperties+ to false and list all its
        # properties in +required+; others raise ConfigurationError.
        #
        # +name+ is <tt>AGENT_ID_result</tt> by default, +description+ says what the result is for, and
        # +strategy+ is +:auto+, +:provider+ (the provider's structured output) or +:tool+ (a final tool call). A result
        # that is missing or invalid is asked for once more, then the run fails with StructuredResultError.
        def result_schema(schema = nil, name: nil, description: nil, strategy: :auto, **keywords)
          if schema.nil? && keywords.empty?
            return @result_schema || (superclass.result_schema unless equal?(Agent) || @complete)
          end
          if schema && !schema.is_a?(Hash)
            raise ConfigurationError, "result_schema takes a Hash with a JSON Schema, got #{schema.class}"
          end

          declared = {schema: Support.deep_dup((schema || {}).merge(keywords)), name: name, description: description, strategy: strategy}
          Native.check_agent("result_schema" => declared.compact)
          @result_schema = declared.freeze
        end
      end
    end
  end
end
