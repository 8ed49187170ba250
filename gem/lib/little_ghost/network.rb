# frozen_string_literal: true

module LittleGhost
  # What lets child processes of a sandbox reach some destinations and no others. It concerns neither providers nor tools
  # in this process, and enforces something only where the sandbox closes every other way out.
  module Network
    autoload :Decision, "little_ghost/network/decision"
    autoload :Request, "little_ghost/network/request"
  end
end
