# frozen_string_literal: true

module LittleGhost
  module Support
    # Small inheritable class settings: a subclass has its parent's value until it assigns its
    # own. Mutable defaults are shared, not copied.
    module ClassAttributes
      # Defines a reader and a writer on the class for each name.
      def class_attribute(*names, default: nil)
        names.each do |name|
          variable = :"@#{name}"
          owner = self
          define_singleton_method(name) do
            if instance_variable_defined?(variable)
              instance_variable_get(variable)
            else
              equal?(owner) ? default : superclass.public_send(name)
            end
          end
          define_singleton_method(:"#{name}=") { |value| instance_variable_set(variable, value) }
        end
      end
    end
  end
end
