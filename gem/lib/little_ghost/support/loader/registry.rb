# frozen_string_literal: true

require "monitor"

module LittleGhost
  module Support
    class Loader
      # The constants that loaders of this process registered, one set-up at a time.
      module Registry # :nodoc:
        @lock = Monitor.new
        @paths = {}

        class << self
          # Makes each of +constants+, name => path, load its file when it is used.
          def install(constants)
            @lock.synchronize do
              constants.each_pair { |name, path| check(name, path) }
              namespaces = constants.keys.flat_map { |name| parents(name) }.uniq - constants.keys
              namespaces.sort_by { |name| name.count(":") }.each { |name| define_namespace(name) }
              # Outer constants first: an inner one is registered on what the outer file defines.
              constants.sort_by { |name, _| name.count(":") }.each { |name, path| register(name, path) }
            end
          end

          # Loads the file of +name+ and sees to it that it defines it.
          def load(name, path)
            value = fetch(name)
            return value if loaded?(name, path)

            raise ExpectedConstantError, "#{path} does not define #{name}"
          rescue NameError => error
            raise unless missing?(error, name)

            raise ExpectedConstantError, "#{path} does not define #{name}"
          end

          def fetch(name)
            name.split("::").inject(Object) { |scope, part| scope.const_get(part, scope.equal?(Object)) }
          end

          def loaded?(name, path)
            return false if path.nil?

            scope, part = resolve(name)
            return false if scope.nil? || scope.autoload?(part, false) || !scope.const_defined?(part, false)

            location = scope.const_source_location(part, false)
            !location.nil? && !location.empty? && real(location.first) == path
          end

          private

          def parents(name)
            parts = name.split("::")[0...-1]
            parts.each_index.map { |index| parts[0..index].join("::") }
          end

          def check(name, path)
            known = @paths[name]
            raise ConflictError, "#{name} is defined by #{known} and by #{path}" if known && known != path

            scope, part = resolve(name)
            return if scope.nil?

            registered = scope.autoload?(part, false)
            if registered
              return if real(registered) == path || real("#{registered}.rb") == path
            elsif !scope.const_defined?(part, false) || loaded?(name, path)
              return
            end
            raise ConflictError, "#{name} is already defined elsewhere; #{path} cannot define it"
          end

          def define_namespace(name)
            scope, part = resolve(name)
            scope.const_set(part, Module.new) unless scope.nil? || scope.const_defined?(part, false)
          end

          def register(name, path)
            scope, part = resolve(name, load: true)
            unless scope.is_a?(Module)
              raise ConflictError, "#{name} has no namespace; #{path} cannot be loaded"
            end

            @paths[name] = path
            scope.autoload(part, path) unless scope.const_defined?(part, false) || scope.autoload?(part, false)
          end

          # The namespace of +name+ and its own name. Without +load+, files are not loaded to find it.
          def resolve(name, load: false)
            *outer, part = name.split("::")
            scope = outer.inject(Object) do |current, segment|
              break if !current.is_a?(Module) || !current.const_defined?(segment, false)
              break if !load && current.autoload?(segment, false)

              current.const_get(segment, false)
            end
            [scope, part.to_sym]
          end

          def real(path)
            File.realpath(path)
          rescue SystemCallError
            nil
          end

          # Whether the very constant is missing, not something that its file uses.
          def missing?(error, name)
            !error.is_a?(NoMethodError) && error.name == name.split("::").last.to_sym && !fetchable?(name)
          end

          def fetchable?(name)
            scope, part = resolve(name)
            !scope.nil? && !scope.autoload?(part, false) && scope.const_defined?(part, false)
          end
        end
      end
    end
  end
end
