# frozen_string_literal: true

module LittleGhost
  class Agent
    # Where an agent's instructions come from: inline, a named prompt, or the conventional one.
    module Prompts # :nodoc:
      DEFAULT_PROMPT = "You are a helpful assistant."

      # What agent classes declare.
      module ClassMethods # :nodoc:
        # Where prompts are looked up: the underscored name with its namespaces, without the suffix.
        def logical_path
          return equal?(Agent) || superclass.equal?(Agent) ? "" : superclass.logical_path if name.nil?

          Native::Naming.underscore(name.delete_suffix("Agent").then { |stem| stem.empty? || stem.end_with?("::") ? name : stem })
        end

        # The instructions: a String, or a block that gets the locals as a Hash (+invocation+, +run+, +agent+
        # and the prompt locals) and returns the text. An inline prompt replaces a #system_template.
        def system_prompt(value = UNSET, &block)
          value = block if block
          return prompt_source.then { |kind, source| source if kind == :inline } if UNSET.equal?(value)

          @system_template = nil
          @system_prompt = value
        end

        # The name of the prompt to use instead of the conventional <tt>logical_path/system</tt>.
        def system_template(path = UNSET)
          return prompt_source.then { |kind, source| source if kind == :template } if UNSET.equal?(path)

          @system_template = path&.to_s
        end

        # Adds +name+ to what every prompt of the agent can use: a value, or a block that runs on each agent.
        #
        #   prompt_local :company_name, "Northstar"
        #   prompt_local(:policy_version) { SupportPolicy.current_version }
        def prompt_local(name, *values, &resolver)
          unless values.length + (resolver ? 1 : 0) == 1
            raise ArgumentError, "prompt_local #{name} takes one value or a block"
          end

          @prompt_locals = (@prompt_locals || {}).merge(name.to_sym => resolver ? [:resolver, resolver] : [:value, values.first])
          self
        end

        # Inherited and own prompt locals, in order.
        def declared_prompt_locals # :nodoc:
          return @prompt_locals if @complete

          (equal?(Agent) ? {} : superclass.declared_prompt_locals).merge(@prompt_locals || {})
        end

        # The nearest declaration; in one class, inline text wins over a template.
        def prompt_source # :nodoc:
          return @prompt_source if @complete
          return [:inline, @system_prompt] if @system_prompt
          return [:template, @system_template] if @system_template

          equal?(Agent) ? [:conventional, nil] : superclass.prompt_source
        end
      end

      # The prompt locals that the class declares, for this agent; a frozen Hash with Symbol keys.
      def prompt_locals
        @prompt_locals ||= self.class.declared_prompt_locals.transform_values do |kind, value|
          next value if kind == :value

          value.arity.zero? ? instance_exec(&value) : instance_exec(self, &value)
        end.freeze
      end

      private

      def prompt(invocation, locals)
        kind, source = self.class.prompt_source
        locals = {invocation: invocation, run: run, agent: self}.merge(prompt_locals, locals.transform_keys(&:to_sym))
        case kind
        when :inline then (source.respond_to?(:call) ? source.call(locals) : source).to_s
        when :template then render_prompt(source, invocation, locals)
        else conventional_prompt(invocation, locals)
        end
      end

      def conventional_prompt(invocation, locals)
        return run ? DEFAULT_PROMPT : "" if instance_of?(Agent)

        path = self.class.logical_path
        return render_prompt("#{path}/system", invocation, locals) unless path.empty?
        return "" if run.nil?

        raise InvalidPromptTemplateError, "an agent class without a name has no conventional prompt; " \
          "give it a system_prompt or a system_template"
      end

      def render_prompt(name, invocation, locals)
        runtime.prompts.render(name, locals: locals, invocation_paths: Array(invocation["template_paths"]))
      end
    end
  end
end
