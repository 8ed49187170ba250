# frozen_string_literal: true

module LittleGhost
  # What an assembly was when it was built: its identity, and the class that runs it. It does not change with
  # the class or builder that it came from.
  class AssemblyDefinition < Data.define(:assembly_id, :description, :implementation, :kind)
    # A snapshot of +assembly_class+.
    def self.of(assembly_class, implementation = assembly_class.snapshot) # :nodoc:
      new(
        assembly_id: assembly_class.assembly_id.dup.freeze, description: assembly_class.description.dup.freeze,
        implementation: implementation, kind: assembly_class.assembly_kind
      )
    end
  end
end
