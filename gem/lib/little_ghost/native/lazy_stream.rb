# frozen_string_literal: true

module LittleGhost
  module Native
    # A run that begins when its events are first asked for.
    class LazyStream # :nodoc:
      def initialize(&build)
        @build = build
        @run = nil
      end

      # Yields every event and returns the finished Run.
      def each(&consumer)
        (@run ||= @build.call).each(&consumer)
      end

      def inspect
        "#<LittleGhost stream>"
      end
    end
  end
end
