# frozen_string_literal: true

module LittleGhost
  class Assembly
    # One try at a Step: its +number+ from 1, its +status+ (<tt>:completed</tt> or <tt>:failed</tt>), when it
    # began and ended (Times), its +usage+, and the class name of its +error+, or nil.
    class Attempt < Data.define(:number, :status, :started_at, :finished_at, :usage, :error)
      # From a Hash of the engine.
      def self.build(hash) # :nodoc:
        new(
          number: hash["number"], status: hash["status"].to_sym, started_at: Time.at(hash["started_at"]),
          finished_at: Time.at(hash["finished_at"]), usage: Native::EventBuilder.usage(hash["usage"]), error: hash["error"]
        )
      end
    end
  end
end
