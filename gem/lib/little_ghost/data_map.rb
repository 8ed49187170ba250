# frozen_string_literal: true

module LittleGhost
  # JSON-compatible application data that may be read with String and Symbol keys. Keys are
  # stored as Strings, nested Hashes become DataMaps.
  #
  #   state = LittleGhost::DataMap.new(plan: {status: "active"})
  #   state.dig("plan", :status) # => "active"
  #   state.to_h                 # => {"plan" => {"status" => "active"}}
  #
  # Values are String, Integer, finite Float, true, false, nil, Array and Hash. Anything else, a
  # cycle, or a key given both as String and as Symbol raises ArgumentError.
  class DataMap < Hash
    # +value+ itself when it is a DataMap, else a new one with its entries.
    def self.coerce(value)
      value.is_a?(self) ? value : new(value)
    end

    def initialize(value = {})
      super()
      fill(value, [])
    end

    def [](key)
      super(canonical(key))
    end

    def []=(key, value)
      super(canonical(key), normalize(value, [self]))
    end

    def store(key, value)
      self[key] = value
    end

    def fetch(key, *defaults, &block)
      super(canonical(key), *defaults, &block)
    end

    # Follows +names+ through nested maps and arrays.
    def dig(key, *names)
      value = self[key]
      names.empty? || value.nil? ? value : value.dig(*names)
    end

    def key?(key)
      super(canonical(key))
    end
    alias_method :has_key?, :key?
    alias_method :include?, :key?
    alias_method :member?, :key?

    def delete(key, &block)
      super(canonical(key), &block)
    end

    def values_at(*keys)
      keys.map { |key| self[key] }
    end

    def slice(*keys)
      self.class.new(super(*keys.map { |key| canonical(key) }))
    end

    def except(*keys)
      self.class.new(super(*keys.map { |key| canonical(key) }))
    end

    # A copy with the entries of +other+; the block settles keys that both have.
    def merge(other = {}, &block)
      dup.tap { |copy| copy.update(other, &block) }
    end

    # Takes the entries of +other+.
    def update(other = {})
      DataMap.coerce(other).each_pair do |key, value|
        value = yield(key, self[key], value) if block_given? && key?(key)
        self[key] = value
      end
      self
    end
    alias_method :merge!, :update

    def replace(other)
      super(DataMap.new(other))
    end

    # A deep, ordinary Hash with String keys.
    def to_h(&block)
      return super if block

      transform(self)
    end

    # A copy shares nothing with its original.
    def initialize_copy(other)
      super
      each_pair { |key, value| store_raw_value(key, normalize(value, [self])) }
    end

    protected

    def fill(source, path)
      source = source.to_hash if !source.is_a?(Hash) && source.respond_to?(:to_hash)
      raise ArgumentError, "expected a Hash, got #{source.class}" unless source.is_a?(Hash)

      path.push(source)
      source.each_pair do |key, value|
        name = canonical(key)
        if source.length > 1 && key?(name)
          raise ArgumentError, "#{name.inspect} is given both as a String and as a Symbol"
        end

        store_raw_value(name, normalize(value, path))
      end
      path.pop
      self
    end

    private

    # Hash#store without another round of normalization.
    def store_raw_value(key, value)
      STORE.bind_call(self, key, value)
    end

    STORE = Hash.instance_method(:store)
    private_constant :STORE

    def canonical(key)
      case key
      when String then key
      when Symbol then key.name
      else raise ArgumentError, "keys are Strings or Symbols, got #{key.class}"
      end
    end

    def normalize(value, path)
      case value
      when String, Integer, true, false, nil then value
      when Float
        raise ArgumentError, "#{value} is not a JSON number" unless value.finite?

        value
      when Hash then nested(value, path) { DataMap.allocate.fill(value, path) }
      when Array then nested(value, path) { array(value, path) }
      else
        raise ArgumentError, "a #{value.class} is not JSON-compatible; use String, Integer, Float, true, " \
          "false, nil, Array or Hash"
      end
    end

    def nested(value, path)
      raise ArgumentError, "the value contains itself" if path.any? { |parent| parent.equal?(value) }

      yield
    end

    def array(values, path)
      path.push(values)
      values.map { |value| normalize(value, path) }.tap { path.pop }
    end

    def transform(value)
      case value
      when Hash
        value.each_pair.with_object({}) { |(key, nested), hash| hash[key] = transform(nested) }
      when Array then value.map { |nested| transform(nested) }
      else value
      end
    end
  end
end
