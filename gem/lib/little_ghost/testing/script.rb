# frozen_string_literal: true

module LittleGhost
  module Testing
    # Turns and requests between Ruby's values and the engine's.
    module Script # :nodoc:
      class << self
        # A turn as the engine needs it. +kept+ takes what must be held for as long as the turn is of use;
        # without it nothing can be put off.
        def turn(value, kept = nil)
          case value
          when Hash then described(value, kept)
          when Exception then failure(value, kept)
          when Proc, Method then function(value, kept)
          else value
          end
        end

        # A recorded request.
        def request(hash)
          ModelRequest.new(
            messages: hash["messages"].map { |message| Message.build(message) },
            tools: hash["tools"],
            settings: hash["settings"],
            output_schema: hash["output_schema"],
            tool_choice: hash["tool_choice"],
            required_capabilities: hash["required_capabilities"],
            deadline: hash["deadline_at"]
          )
        end

        private

        def described(hash, kept)
          hash = hash.transform_keys(&:to_s)
          error = hash["error"]
          error = error.new("the scripted failure") if error.is_a?(Class)
          if error.is_a?(Exception)
            rest = hash.except("error")
            return rest.empty? ? failure(error, kept) : described(rest, kept).merge(plain(error))
          end

          hash["tools"] = hash["tools"].map { |call| named(call.transform_keys(&:to_s)) } if hash["tools"].is_a?(Array)
          hash["usage"] = hash["usage"].to_h if hash["usage"].is_a?(Usage)
          named(hash)
        end

        def named(call)
          tool = call["tool"]
          tool.respond_to?(:tool_name) ? call.merge("tool" => tool.tool_name) : call
        end

        # The library's own exceptions are described; any other is raised as the object it is.
        def failure(error, kept)
          return plain(error) if error.is_a?(Error)
          raise error if kept.nil?

          function(->(_request) { raise error }, kept)
        end

        def plain(error)
          kind, _class, message = Native::Failure.describe(error)
          if kind == "HostError"
            raise ArgumentError, "a turn that also says something can only fail with a LittleGhost::Error, got #{error.class}"
          end

          details = %i[status body code].select { |name| error.respond_to?(name) }
          described = details.to_h { |name| [name.name, error.public_send(name)] }.compact
          {"error" => {"kind" => kind, "message" => message, **described}}
        end

        def function(function, kept)
          kept << function
          {"function" => Functions.keep(function)}
        end
      end
    end
  end
end
