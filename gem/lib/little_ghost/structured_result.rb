# frozen_string_literal: true

module LittleGhost
  # A validated structured value and the name of the schema that validated it.
  class StructuredResult < Data.define(:schema_name, :value)
  end
end
