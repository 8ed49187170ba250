# frozen_string_literal: true

module LittleGhost
  module Testing
    # Real exchanges in a file, recorded once and played ever after; see Testing.cassette.
    #
    # The file is JSON made to be read and compared. Request headers are not kept; credentials of the requests, texts
    # given as +scrub+, and texts under keys such as +api_key+ or +password+ are replaced before anything is
    # written. A secret that a model spells out over several events is not recognised.
    #
    # Playing is strict: a request must have a recorded method, path, query and body, and each exchange is
    # played once. The host and the headers do not count, and nothing is ever sent.
    class Cassette
      # The file.
      attr_reader :path

      # +name+ is a path below Testing.cassette_directory, without its extension. +mode+ is +:once+ (play if the file
      # exists, else record; the default, unless LITTLE_GHOST_CASSETTES names another), +:record+ or
      # +:replay+. +scrub+ are texts that must never be written; +ignore+ are JSON pointers to
      # parts of the body that may differ, such as <tt>"/metadata"</tt>. Raises ArgumentError for an unusable
      # option and ConfigurationError for a file that cannot be played.
      def initialize(name, mode: nil, scrub: [], ignore: [])
        name = name.to_s
        if name.empty? || name.start_with?("/") || name.split("/").include?("..")
          raise ArgumentError, "a cassette's name must be a path below #{Testing.cassette_directory}, got #{name.inspect}"
        end

        @path = File.join(Testing.cassette_directory, "#{name}.json")
        mode ||= ENV.fetch("LITTLE_GHOST_CASSETTES", "once")
        @native = Native::Cassette.new({path: @path, mode: mode.to_s, scrub: Array(scrub), ignore: Array(ignore)})
      end

      # Whether real exchanges are recorded.
      def recording? = @native.recording?

      # Writes what was recorded, or raises UnmetExpectation unless everything was played and nothing else
      # was asked. Raises ConfigurationError when the file cannot be written.
      def finish
        Testing.expect { @native.finish }
      end

      # Names the file and what is done with it.
      def inspect
        "#<#{self.class} #{path} #{recording? ? "recording" : "playing"}>"
      end

      # +engine+ with its requests on this cassette.
      def over(engine) # :nodoc:
        engine.with_cassette(@native)
      end
    end
  end
end
