# frozen_string_literal: true

require "little_ghost"

module LittleGhost
  # A test kit for applications: models that follow a script, recorded exchanges, and failures on demand. It is
  # loaded by <tt>require "little_ghost/testing"</tt>, and works with any test framework.
  #
  #   LittleGhost::Testing.with_model("You have 30 days.") do |model|
  #     run = SupportAgent.ask("Can I get a refund?")
  #
  #     assert_equal "You have 30 days.", run.response
  #     assert_equal "Can I get a refund?", model.requests.last.messages.last.text
  #   end
  #
  # A block applies to the runs that begin inside it, on its thread or fiber and on those that start inside.
  # With <tt>everywhere: true</tt> it applies to every thread of the process, such as those of a
  # server under test. Nothing of your application changes.
  module Testing
    autoload :Cassette, "little_ghost/testing/cassette"
    autoload :Faults, "little_ghost/testing/faults"
    autoload :Functions, "little_ghost/testing/functions"
    autoload :Overlay, "little_ghost/testing/overlay"
    autoload :ScriptedModel, "little_ghost/testing/scripted_model"
    autoload :Script, "little_ghost/testing/script"

    # What a test expected and did not happen: a turn that was never needed, a request that was not
    # recorded. Raised when a block of Testing ends without another exception.
    class UnmetExpectation < Error; end

    class << self
      # The folder of cassettes: <tt>spec/cassettes</tt> where there is a folder +spec+, else
      # <tt>test/cassettes</tt>.
      attr_writer :cassette_directory

      def cassette_directory
        @cassette_directory || (File.directory?("spec") ? "spec/cassettes" : "test/cassettes")
      end

      # Has one model answer for every agent while the block runs, whatever model the agent selects. Takes a
      # ScriptedModel, or what ScriptedModel.new takes. Yields the model and returns the block's value. Raises
      # UnmetExpectation when the script was not followed to its end, unless +verify+ is false.
      def with_model(*turns, everywhere: false, verify: true, **options)
        given = turns.first if turns.length == 1 && options.empty?
        model = given.is_a?(ScriptedModel) ? given : ScriptedModel.new(*turns, **options)
        Overlay.apply(model, everywhere: everywhere) do
          yield(model).tap { model.verify! if verify }
        end
      end

      # Records real exchanges in a file of that name while the block runs, and plays them from then on. Yields the
      # Cassette and returns the block's value. Options are those of Cassette.new. Raises UnmetExpectation for
      # a request that was not recorded and for an exchange that nobody asked for.
      def cassette(name, everywhere: false, **options)
        cassette = Cassette.new(name, **options)
        Overlay.apply(cassette, everywhere: everywhere) do
          yield(cassette).tap { cassette.finish }
        end
      end

      # Has requests go wrong while the block runs; see Faults.new for what a fault is. Yields the Faults and returns
      # the block's value. Raises UnmetExpectation when a fault's request was never sent, unless
      # +verify+ is false.
      def faults(*faults, everywhere: false, verify: true, **fault)
        faults = Faults.new(*faults, **fault)
        Overlay.apply(faults, everywhere: everywhere) do
          yield(faults).tap { faults.verify! if verify }
        end
      end

      # Raises what the engine says of an expectation as UnmetExpectation.
      def expect # :nodoc:
        yield
      rescue Error => error
        raise unless error.instance_of?(Error)

        raise UnmetExpectation, error.message
      end
    end

    Runtime.prepend(Overlay::Engine)
  end
end
