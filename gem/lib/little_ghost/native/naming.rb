# frozen_string_literal: true

module LittleGhost
  module Native
    # Names derived from class names.
    module Naming # :nodoc:
      # "HTTPStatusTool" => "http_status_tool"; "::" becomes "/".
      def self.underscore(name)
        name.gsub("::", "/").gsub(/([A-Z\d]+)([A-Z][a-z])/, '\1_\2').gsub(/([a-z\d])([A-Z])/, '\1_\2').downcase
      end
    end
  end
end
