# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # Tools under the names that programs of a language call them by.
    #
    #   catalog = LittleGhost::CodeMode::Catalog.new(broker.catalog, normalize: ->(name) { name.tr("-", "_") })
    #   catalog.fetch("look_up").fetch("canonical_name") # => "look-up"
    class Catalog
      # Frozen Hashes with +name+, +canonical_name+, +description+, +input_schema+ and +specification+, in the order of the
      # tools.
      attr_reader :definitions

      # +normalize+ makes a name of the language from a tool's. Raises ConfigurationError for names that are +reserved+ or
      # that two tools would have.
      def initialize(specifications, normalize:, reserved: CONTROLS)
        specifications = specifications.map { |tool| Native::ToolValue.data(tool) }
        names = specifications.map { |tool| normalize.call(tool.fetch("name")).to_s }
        @definitions = Native.code_mode_catalog(specifications, names, reserved.map(&:to_s)).map { |tool| Native::Freezing.deep(tool) }.freeze
        @by_name = @definitions.to_h { |definition| [definition["name"], definition] }.freeze
      end

      # The definition of the tool that programs call +name+. Raises KeyError when there is none.
      def fetch(name)
        @by_name.fetch(name.to_s)
      end

      # Whether there is a tool that programs call +name+.
      def key?(name)
        @by_name.key?(name.to_s)
      end
    end
  end
end
