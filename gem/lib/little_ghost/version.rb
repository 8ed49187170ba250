# frozen_string_literal: true

module LittleGhost
  # Current LittleGhost gem version.
  VERSION = "0.1.0"
end
