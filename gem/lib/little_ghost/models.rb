# frozen_string_literal: true

module LittleGhost
  # Which models there are and what is known about them.
  module Models
    autoload :Catalog, "little_ghost/models/catalog"
    autoload :Configuration, "little_ghost/models/configuration"
    autoload :Details, "little_ghost/models/details"
    autoload :Target, "little_ghost/models/target"
  end
end
