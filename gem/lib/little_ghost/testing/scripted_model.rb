# frozen_string_literal: true

module LittleGhost
  module Testing
    # A model without a server: it answers each request with the next turn of a script, and keeps the
    # requests.
    #
    #   model = LittleGhost::Testing::ScriptedModel.new(
    #     {tool: LookupTool, input: {topic: "refunds"}},
    #     "You have 30 days."
    #   )
    #   LittleGhost::Testing.with_model(model) { SupportAgent.ask("Can I get a refund?") }
    #   model.requests.length # => 2
    #
    # An agent class may also declare it as its +model+; call verify! then.
    #
    # A turn is one of:
    #
    # * a String: the text of an answer;
    # * a Hash of these, all optional: +text+ (a String, or an Array of the pieces in which it arrives),
    #   +json+ (a value that is sent as text, for structured results), +reasoning+ (as +text+), +tool+ (a name or a
    #   Tool class), +input+ and +id+ for a tool call, +tools+ (an Array of such calls), +usage+ (a Usage or a
    #   Hash), +stop_reason+, +delay+ (seconds before the answer), +pause+ (seconds between pieces) and +error+
    #   (an exception, its class, or a message);
    # * an exception: the model call fails with it;
    # * a Proc: it gets the ModelRequest and returns any of the above.
    class ScriptedModel
      # +repeat+ has the last turn answer any number of further requests. +capabilities+ are what the model
      # differs in from one that can do everything, such as <tt>{native_structured_output: false}</tt>. A
      # single turn may be given by keywords. Raises ArgumentError for what cannot be a turn.
      def initialize(*turns, repeat: false, capabilities: {}, **turn)
        turns << turn unless turn.empty?
        @functions = []
        described = turns.map { |value| Script.turn(value, @functions) }
        @native = Native::ScriptedModel.new({turns: described, repeat: repeat, capabilities: capabilities})
      end

      # Every ModelRequest so far, in order, those beyond the script included. Its +tools+ are Hashes with +name+,
      # +description+ and +input_schema+.
      def requests
        @native.requests.map { |request| Script.request(request) }
      end

      # Raises UnmetExpectation unless the model was asked exactly as often as the script says.
      def verify!
        Testing.expect { @native.verify }
      end

      # The model as an agent's declaration names it.
      def to_engine # :nodoc:
        {"native" => @native.id}
      end

      # +engine+ with this model for every agent.
      def over(engine) # :nodoc:
        engine.with_model(@native)
      end
    end
  end
end
