# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # What a program that ran to its end has left: +stdout+ and +stderr+, cut at the sandbox's limit, its +exit_code+, nil
    # when a signal ended it, and an +error+ when it could not run as it should, else nil.
    class Execution < Data.define(:stdout, :stderr, :exit_code, :error)
      def initialize(stdout:, stderr:, exit_code:, error: nil)
        super
      end

      # Whether it ran and returned zero.
      def success?
        error.nil? && exit_code == 0
      end
    end
  end
end
