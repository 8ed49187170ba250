# frozen_string_literal: true

module Conformance
  module Assembly
    # The body of a workflow, statement by statement.
    class Body
      def initialize(cast, workflow)
        @cast = cast
        @workflow = workflow
        @known = {}
      end

      # What the statements return; nil when they do not.
      def run(statements)
        statements.each do |statement|
          done = step(statement)
          return done unless done.nil?
        end
        nil
      end

      private

      def step(statement)
        case statement.keys.first
        when "let" then let(statement)
        when "prepare" then note(statement["prepare"], invoke(statement["of"]))
        when "read" then note(statement["as"], @known.fetch(statement["read"]).output)
        when "if" then run(holds?(statement["if"]) ? statement["then"] : statement.fetch("else", []))
        when "try" then attempt(statement)
        when "raise" then raise Boom, statement["raise"]
        when "return" then invoke(statement["return"])
        when "return_prepared" then @known.fetch(statement["return_prepared"])
        when "return_value" then fill(statement["return_value"])
        else raise "unknown statement #{statement}"
        end
      end

      def let(statement)
        return note(statement["let"], invoke(statement["of"]).output) if statement.key?("of")

        calls = statement["parallel"].map { |call| invoke(call) }
        note(statement["let"], @workflow.send(:parallel, *calls, **statement.slice("max_concurrency").transform_keys(&:to_sym)))
      end

      def attempt(statement)
        run(statement["try"])
      rescue *@cast.exceptions([statement["catch"]]) => error
        note("error", Shape.error(error)["class"])
        run(statement["then"])
      end

      def note(name, value)
        @known[name] = value
        nil
      end

      def holds?(condition)
        fill(condition.fetch("that")) == condition.fetch("is")
      end

      def invoke(call)
        call = {"run" => call} if call.is_a?(String)
        options = call.slice("as", "history", "context").transform_keys(&:to_sym)
        options[:input] = fill(call["input"]) if call.key?("input")
        @workflow.send(:invoke, @cast[call["run"]], **options, **@cast.policy(call))
      end

      def fill(text)
        Template.fill(text) do |name, key|
          case name
          when "input" then @workflow.send(:input).text
          when "history" then @workflow.send(:history).map(&:text)
          when "context" then @workflow.send(:context)[key]
          else key ? @known.fetch(name)[key] : @known.fetch(name)
          end
        end
      end
    end
  end
end
