# frozen_string_literal: true

module LittleGhost
  module Native
    # Events about the coordination of participants. Nodes of graphs are named by Symbols, other participants by
    # Strings.
    module AssemblyEvent # :nodoc:
      NODES = %i[participant from to branch_id branches].freeze
      private_constant :NODES

      # Makes the value objects of +data+, in place.
      def self.fill(data)
        data[:usage] = EventBuilder.usage(data[:usage]) if data.key?(:usage)
        return data unless data.key?(:assembly_kind)

        data[:assembly_kind] = data[:assembly_kind].to_sym
        return data unless data[:assembly_kind] == :graph

        NODES.each do |name|
          value = data[name] or next
          data[name] = value.is_a?(Array) ? value.map(&:to_sym).freeze : value.to_sym
        end
        data
      end
    end
  end
end
