# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # Frames between this process and a program: four bytes of length, the highest first, and that much JSON.
    module Protocol
      # Raised for frames that are too long or no JSON.
      Error = ProtocolError
      # The longest JSON of a frame, in bytes.
      MAX_FRAME_BYTES = Native::MAX_FRAME_BYTES

      HEADER_BYTES = 4
      private_constant :HEADER_BYTES

      module_function

      # One frame that holds +value+, a binary String.
      def dump(value)
        Native.code_mode_dump(value)
      end

      # Takes the first frame off +buffer+ and returns its value, or nil while bytes are missing. A length over the limit is
      # refused before its bytes arrive.
      def extract!(buffer)
        value, length = Native.code_mode_extract(buffer)
        return if length.nil?

        buffer.replace(buffer.byteslice(length..))
        value
      end

      # The value of the next frame of +io+, or nil at its end.
      def read(io)
        header = io.read(HEADER_BYTES)
        return if header.nil? || header.empty?
        raise Error, "a frame ends in its length" if header.bytesize < HEADER_BYTES

        length = header.unpack1("N")
        raise Error, "a frame of #{length} bytes is longer than #{MAX_FRAME_BYTES}" if length > MAX_FRAME_BYTES

        payload = length.zero? ? "" : io.read(length)
        raise Error, "a frame ends after #{payload.to_s.bytesize} of #{length} bytes" if payload.to_s.bytesize < length

        extract!(header.b << payload.b)
      end

      # Writes +value+ as one frame to +io+.
      def write(io, value)
        io.write(dump(value))
        io.flush if io.respond_to?(:flush)
        nil
      end
    end
  end
end
