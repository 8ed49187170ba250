# frozen_string_literal: true

require "erb"

module LittleGhost
  class PromptResolver
    # One compiled prompt. It is compiled once for each set of local names, because a local is a
    # variable of the compiled code.
    class Template # :nodoc:
      LOCAL = /\A[a-z_]\w*\z/
      KEYWORDS = %w[alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not
        or redo rescue retry return self super then true undef unless until when while yield __method__].freeze
      private_constant :LOCAL, :KEYWORDS

      attr_reader :version

      def initialize(path, version)
        @path = path
        @version = version
        @code = ERB.new(read, trim_mode: "-").src
        @compiled = {}
        @lock = Mutex.new
      end

      def render(session, name, locals)
        locals = check(locals)
        view = View.new(session)
        begin
          view.instance_exec(locals, &compiled(locals.keys.sort))
        rescue NameError => error
          raise unless unknown_in?(view, error)

          raise MissingPromptLocalError, "prompt #{name} uses #{error.name}, which is none of its locals" \
            "#{": #{locals.keys.join(", ")}" unless locals.empty?}"
        end
      end

      private

      def read
        text = File.read(@path, encoding: "UTF-8")
        return text if text.valid_encoding?

        raise PromptTemplateError, "prompt #{@path} is not valid UTF-8; save it as UTF-8"
      end

      def check(locals)
        locals.each_pair.to_h do |key, value|
          key = key.to_s
          unless LOCAL.match?(key) && !KEYWORDS.include?(key)
            raise ArgumentError, "prompt local #{key.inspect} must look like a local variable"
          end

          [key, value]
        end
      end

      def unknown_in?(view, error)
        error.receiver.equal?(view)
      rescue ArgumentError
        false
      end

      def compiled(names)
        @lock.synchronize { @compiled[names] ||= compile(names) }
      end

      def compile(names)
        assignments = names.map { |name| "#{name} = __locals[#{name.inspect}];" }.join
        View.compile("#{assignments}\n#{@code}", @path)
      rescue SyntaxError => error
        raise PromptTemplateError, "prompt #{@path} is no valid ERB: #{error.message.lines.first&.strip}"
      end
    end
  end
end
