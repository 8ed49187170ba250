# frozen_string_literal: true

module LittleGhost
  module Support
    # Named chains of callbacks that may change a payload or stop the work. A later callback sees what
    # an earlier one made of the payload.
    #
    #   callbacks = LittleGhost::Support::Callbacks.new(:prepare)
    #   callbacks.on(:prepare) { |payload| LittleGhost::Support::Callbacks.replace(payload.merge(debug: true)) }
    #   callbacks.run(:prepare, {}).value # => {debug: true}
    #
    # A callback returns Callbacks.continue, Callbacks.replace or Callbacks.cancel; anything else means
    # to continue. It is given the payload if it takes a positional argument, and <tt>context:</tt> if it
    # accepts that.
    class Callbacks
      autoload :Decision, "little_ghost/support/callbacks/decision"
      autoload :Entry, "little_ghost/support/callbacks/entry"

      class << self
        # The decision to stop; +reason+ says why.
        def cancel(reason = nil)
          Decision.new(kind: :cancel, reason: reason)
        end

        # The decision to go on as before.
        def continue
          Decision::CONTINUE
        end

        # The decision to go on with +value+ as the payload.
        def replace(value)
          Decision.new(kind: :replace, value: value)
        end
      end

      # Empty chains for +names+.
      def initialize(*names)
        @chains = names.flatten.to_h { |name| [name.to_sym, []] }
      end

      # Copies share callbacks, but not chains.
      def initialize_copy(source)
        super
        @chains = @chains.transform_values(&:dup)
      end

      # Adds a callable, a block or the name of a method of the receiver, last, or first with +prepend+.
      # The same one is kept once. Returns +self+. Raises ArgumentError for an unknown name.
      def on(name, callable = nil, prepend: false, &block)
        work = callable || block
        unless work.respond_to?(:call) || work.is_a?(Symbol) || work.is_a?(String)
          raise ArgumentError, "#{name} takes a block, an object with call, or a method name, got #{work.class}"
        end

        add(chain(name), Entry.new(work, prepend))
        self
      end

      # New chains with the callbacks of +other+ after these; its prepended ones come before.
      def merge(other)
        dup.tap { |merged| merged.append(other) }
      end

      # Runs the callbacks of +name+ until one cancels. The decision is to cancel, to replace when any of
      # them replaced, or to continue. A block combines the payload with each replacement.
      def run(name, payload, context: nil, receiver: nil)
        replaced = false
        chain(name).dup.each do |entry|
          decision = entry.call(payload, context, receiver)
          next unless decision?(decision)
          return decision if decision.cancel?
          next unless decision.replace?

          replaced = true
          payload = block_given? ? yield(payload, decision.value) : decision.value
        end
        replaced ? Callbacks.replace(payload) : Callbacks.continue
      end

      # Whether +name+ has callbacks.
      def any?(name) # :nodoc:
        !chain(name).empty?
      end

      # Those of +names+, Symbols, that have callbacks.
      def present(names) # :nodoc:
        names.reject { |name| @chains.fetch(name).empty? }
      end

      protected

      attr_reader :chains

      def append(other)
        other.chains.each do |name, entries|
          own = (@chains[name] ||= [])
          first, last = entries.partition(&:prepend)
          first.reverse_each { |entry| add(own, entry) }
          last.each { |entry| add(own, entry) }
        end
      end

      private

      def chain(name)
        @chains.fetch(name.to_sym) do
          raise ArgumentError, "there is no callback #{name.inspect}; there are #{@chains.keys.join(", ")}"
        end
      end

      def add(entries, entry)
        return if entries.any? { |known| known.work == entry.work }

        entry.prepend ? entries.unshift(entry) : entries.push(entry)
      end

      def decision?(value)
        %i[continue? cancel? replace?].all? { |question| value.respond_to?(question) }
      end
    end
  end
end
