# frozen_string_literal: true

module LittleGhost
  class Assembly
    # What stands for an assembly where others are made of some: its class, its builder, or a definition.
    module Reference # :nodoc:
      class << self
        # The class that answers for +reference+.
        def resolve(reference)
          case reference
          when AssemblyDefinition then reference.implementation
          when AssemblyBuilder then reference.definition.implementation
          else checked(reference)
          end
        end

        # Raises ArgumentError unless +reference+ can stand for an assembly; returns it.
        def check(reference)
          return reference if reference.is_a?(AssemblyDefinition) || reference.is_a?(AssemblyBuilder)

          checked(reference)
        end

        # As resolve; a name stands for an agent of the application: +:billing+ for +BillingAgent+.
        def find(reference, loader)
          return resolve(reference) unless reference.is_a?(String) || reference.is_a?(Symbol)

          found = loader.constant(constant_name(reference.to_s))
          return found if found.is_a?(Class) && found <= Agent

          raise ConfigurationError, "#{reference.inspect} names #{found}, which is no Agent"
        rescue NameError
          raise ConfigurationError, "there is no agent called #{reference.inspect}; define " \
            "#{constant_name(reference.to_s)}, or give the class"
        end

        # The identifier of +reference+.
        def id(reference)
          reference.assembly_id
        end

        # Which kind of assembly +reference+ stands for.
        def kind(reference)
          reference.is_a?(AssemblyDefinition) ? reference.kind : reference.assembly_kind
        end

        private

        def checked(reference)
          return reference if reference.is_a?(Class) && reference < Assembly

          raise ArgumentError, "expected the class, builder or definition of an assembly, got #{reference.inspect}"
        end

        def constant_name(name)
          words = name.split("/").map { |part| part.match?(/\A[A-Z]/) ? part : part.split("_").map(&:capitalize).join }
          text = words.join("::")
          text.end_with?("Agent") ? text : "#{text}Agent"
        end
      end
    end
  end
end
