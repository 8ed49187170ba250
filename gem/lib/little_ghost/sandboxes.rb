# frozen_string_literal: true

module LittleGhost
  # The sandboxes that come with the library.
  module Sandboxes
    autoload :Bubblewrap, "little_ghost/sandboxes/bubblewrap"
    autoload :Native, "little_ghost/sandboxes/native"
    autoload :Seatbelt, "little_ghost/sandboxes/seatbelt"
    autoload :Unrestricted, "little_ghost/sandboxes/unrestricted"
  end
end
