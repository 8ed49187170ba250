# frozen_string_literal: true

module LittleGhost
  module Support
    # Finds an application's classes by the paths of their files: <tt>app/tools/billing/refund_tool.rb</tt>
    # defines +Billing::RefundTool+. Files are loaded when their constant is first used.
    #
    #   LittleGhost::Support::Loader.new(root: Dir.pwd).setup.eager_load
    #
    # Files that lead out of their directory through symbolic links are not found. The directories are
    # trusted code, no sandbox.
    class Loader
      # Two files, or a file and something else, stand for one constant.
      class ConflictError < Error; end

      # A file does not define the constant that its path stands for.
      class ExpectedConstantError < Error; end

      autoload :Registry, "little_ghost/support/loader/registry"

      DEFAULT_DIRECTORIES = %w[app/agents app/assemblies app/tools].freeze
      FILE_PART = /\A[a-z][a-z0-9]*(_[a-z0-9]+)*\z/
      private_constant :FILE_PART

      # The application's root, or nil when +paths+ were given.
      attr_reader :root
      # The directories below #root.
      attr_reader :directories

      # Searches +paths+, or else +directories+ below +root+, which is Dir.pwd unless given. Ones that do
      # not exist are left out.
      def initialize(paths: nil, root: nil, directories: DEFAULT_DIRECTORIES)
        @root = paths.nil? || root ? File.realpath(root || Dir.pwd) : nil
        @directories = directories.map(&:to_s).freeze
        @paths = (paths ? Array(paths).map { |path| File.expand_path(path, @root || Dir.pwd) } : below_root).freeze
      end

      # Registers the constants of all files, to be loaded on use, and returns +self+. Raises ConflictError.
      def setup
        Registry.install(discover)
        self
      end

      # Loads every file. Raises ExpectedConstantError for one that does not define its constant.
      def eager_load
        registered_constants.each { |name, path| Registry.load(name, path) }
        self
      end

      # The constant called +name+. Raises NameError when there is none.
      def constant(name)
        setup
        Registry.fetch(name.to_s)
      end

      # Whether +name+ is defined by the file that its path stands for.
      def loaded_constant?(name)
        Registry.loaded?(name.to_s, registered_constants[name.to_s])
      end

      # Name => path of every file that stands for a constant.
      def registered_constants
        discover
      end

      # The path of the first file called +relative_path+, or nil. Raises ArgumentError for a path that is
      # absolute or leaves its directory.
      def find(relative_path)
        relative = relative(relative_path)
        each_root do |real|
          path = inside(File.join(real, relative), real)
          return path if path && File.file?(path)
        end
        nil
      end

      # As #find; raises LoadError when there is none.
      def fetch(relative_path)
        find(relative_path) || raise(LoadError, "there is no file #{relative_path} in #{@paths.join(", ")}")
      end

      # The text of the file called +relative_path+.
      def read(relative_path, encoding: "UTF-8")
        File.read(fetch(relative_path), encoding: encoding)
      end

      # The sorted paths of all files that match +pattern+.
      def glob(pattern)
        relative = relative(pattern)
        found = []
        each_root do |real|
          Dir.glob(relative, base: real).sort.each do |name|
            path = inside(File.join(real, name), real)
            found << path if path && File.file?(path)
          end
        end
        found.uniq
      end

      private

      def below_root
        directories.filter_map do |directory|
          path = File.expand_path(directory, root)
          path if File.directory?(path) && inside(path, root)
        end
      end

      def each_root
        @paths.each { |path| yield File.realpath(path) if File.directory?(path) }
      end

      def discover
        found = {}
        each_root do |real|
          Dir.glob("**/*.rb", base: real).sort.each do |name|
            path = inside(File.join(real, name), real)
            next if path.nil?

            constant = constant_name(name)
            if found.key?(constant) && found[constant] != path
              raise ConflictError, "#{constant} is defined by #{found[constant]} and by #{path}"
            end

            found[constant] = path
          end
        end
        found
      end

      def constant_name(name)
        parts = name.delete_suffix(".rb").split("/")
        unless parts.all? { |part| FILE_PART.match?(part) }
          raise ConflictError, "#{name} does not stand for a constant; use lower case letters, digits and underscores"
        end

        parts.map { |part| part.split("_").map(&:capitalize).join }.join("::")
      end

      def relative(path)
        text = path.to_s
        parts = text.split("/")
        raise ArgumentError, "the path is empty" if parts.empty?
        return text unless text.start_with?("/") || parts.include?("..") || text.include?("\0")

        raise ArgumentError, "#{text.inspect} must be relative and stay inside its directory"
      end

      def inside(path, boundary)
        real = File.realpath(path)
        real if real == boundary || real.start_with?("#{boundary}/")
      rescue SystemCallError
        nil
      end
    end
  end
end
