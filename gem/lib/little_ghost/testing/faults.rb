# frozen_string_literal: true

module LittleGhost
  module Testing
    # Requests that go wrong; see Testing.faults.
    #
    #   LittleGhost::Testing.faults({status: 503, headers: {"retry-after" => 0}}, {drop_after: 120}) do
    #     SupportAgent.ask("Hello") # the third request succeeds
    #   end
    #
    # A fault is a Hash with one of
    #
    # * +status+: an answer of its own, with optional +headers+ and +body+ (a String, or a value sent as JSON); nothing
    #   is sent;
    # * +drop_after+: the connection breaks after so many bytes of the answer's body;
    # * +stall_after+: nothing comes any more after so many bytes;
    # * +truncate_after+: the answer ends after so many bytes as if it were complete;
    # * +garbage_after+: bytes that are no event come after so many bytes;
    #
    # and optionally +delay+ in seconds and +on+, the number of its request from 1; by default the one after the last
    # fault's. <tt>on: :always</tt> is for all requests that have no fault of their own. Retries count as requests.
    class Faults
      # Raises ArgumentError for what cannot be a fault. A single one may be given by keywords.
      def initialize(*faults, **fault)
        faults << fault unless fault.empty?
        @native = Native::Faults.new(faults)
      end

      # How many requests were sent so far, retries included.
      def requests
        @native.requests
      end

      # Raises UnmetExpectation unless every planned fault happened.
      def verify!
        Testing.expect { @native.verify }
      end

      # +engine+ with requests that go wrong.
      def over(engine) # :nodoc:
        engine.with_faults(@native)
      end
    end
  end
end
