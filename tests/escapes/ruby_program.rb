# frozen_string_literal: true

# A program of code mode in Ruby that tries to get out: by files, processes, sockets, system calls, descriptors,
# variables, and by the tools that it was not given.

require "socket"

held = ->(what) { text("held: #{what}\n") }
escaped = ->(what) { text("ESCAPED: #{what}\n") }
fails = lambda do |what, &action|
  found = action.call
  escaped.call("#{what}: #{found.inspect}")
rescue SystemCallError, SocketError, RuntimeError => problem
  held.call("#{what}: #{problem.class}")
end

outside, host = FRAME.values_at("outside", "host_pid")
["", "/proc/self/root", "/proc/1/root", "/proc/#{host}/root"].each do |root|
  fails.call("the secret below #{root.inspect}") { File.read(root + outside) }
end
fails.call("the secret by another program") { IO.popen(["cat", outside], err: File::NULL, &:read).then { |read| read.empty? ? raise("nothing") : read } }
File.symlink(outside, "link")
fails.call("the secret by a link") { File.read("link") }
fails.call("the secret by a hard link") { File.link(outside, "hard") }
# Directories above what is granted are there, and show the way to it alone.
granted = ENV.filter_map { |name, path| path if name.start_with?("LITTLE_GHOST_WORKSPACE_") }
look = lambda do |path|
  next held.call(path) unless File.exist?(path)
  next escaped.call("#{path} is visible") if granted.none? { |one| "#{one}/".start_with?("#{path}/") }

  Dir.children(path).each { |entry| look.call(File.join(path, entry)) } unless granted.include?(path)
end
["/root", "/home", "/etc/shadow", "/sys", "/mnt", "/opt", FRAME["read_only"]].each(&look)
["/new", "/usr/bin/new", "#{FRAME["read_only"]}/new"].each do |path|
  fails.call("writing #{path}") { File.write(path, "x") }
end
fails.call("changing the kernel") { File.write("/proc/sys/kernel/hostname", File.read("/proc/sys/kernel/hostname")) }

seen = Dir.children("/proc").grep(/\A\d+\z/)
(seen.length <= 4 ? held : escaped).call("#{seen.length} processes are visible")
fails.call("a signal to the host") { Process.kill(:TERM, host) }
fails.call("a signal to its group") { Process.kill(:TERM, -host) }
fails.call("the memory of the host") { File.open("/proc/#{host}/mem", "rb").close }
fails.call("the user root") { Process::Sys.setuid(Process.uid.zero? ? 1 : 0) }
fails.call("more processor time") { Process.setrlimit(:CPU, 100_000, 100_000) }
fails.call("larger files") { Process.setrlimit(:FSIZE, Process::RLIM_INFINITY, Process::RLIM_INFINITY) }
fails.call("a priority above others") { Process.setpriority(Process::PRIO_PROCESS, 0, -10) }

(0...46).each do |family|
  next if family == Socket::AF_UNIX

  [Socket::SOCK_STREAM, Socket::SOCK_DGRAM, Socket::SOCK_RAW, Socket::SOCK_SEQPACKET].each do |kind|
    Socket.new(family, kind, 0)
    escaped.call("a socket of family #{family}, type #{kind}")
  rescue SystemCallError, SocketError
    nil
  end
end
held.call("sockets of every family but that of files")
fails.call("a listener of the host") { TCPSocket.new("127.0.0.1", FRAME["host_port"]) }
fails.call("a name of the network") { Addrinfo.getaddrinfo("example.com", 80) }
fails.call("an abstract socket of the host") { UNIXSocket.new("\0#{FRAME["abstract"]}") }
fails.call("a socket file of the host") { UNIXSocket.new(FRAME["socket_file"]) }

# Numbers of x86-64; elsewhere the attempts by Python make the same calls.
if RUBY_PLATFORM.start_with?("x86_64-linux")
  $VERBOSE = nil
  {
    ptrace: [101, 16, 1, 0, 0], unshare: [272, 0x10000000], mount: [165, 0, 0, 0, 0, 0], setns: [308, 0, 0],
    chroot: [161, +"/"], keyctl: [250, 0, 0, 0], bpf: [321, 0, 0, 0], userfaultfd: [323, 0], io_uring_setup: [425, 1, 0],
    process_vm_readv: [310, 1, 0, 0, 0, 0, 0], open_by_handle_at: [304, 0, 0, 0], clock_settime: [227, 0, 0]
  }.each do |name, call|
    escaped.call("the call #{name}: #{syscall(*call)}")
  rescue Errno::EPERM
    held.call("the call #{name}")
  rescue SystemCallError => problem
    escaped.call("the call #{name} was made: #{problem.class}")
  end
end
[0o4755, 0o2755].each do |mode|
  File.write("program", "")
  fails.call(format("the mode %o", mode)) { File.chmod(mode, "program") }
end
fails.call("a device") { system("mknod", "disk", "b", "8", "0", err: File::NULL, out: File::NULL) || raise("refused") }

(0..255).each do |number|
  target = File.readlink("/proc/self/fd/#{number}")
  # The streams of the engine, and what Ruby itself has.
  next if target.start_with?("pipe:", "socket:", "anon_inode:") || target == File::NULL || target.match?(%r{\A/proc/\d+/fd\z})

  escaped.call("descriptor #{number}: #{target}")
rescue Errno::ENOENT
  nil
end
held.call("descriptors")
more = ENV.keys.grep_v(/\A(LANG|LC_CTYPE|LITTLE_GHOST_WORKSPACE_(ROOT|RUBY_\d+)|PWD|TMPDIR)\z/)
(more.empty? ? held : escaped).call("further variables: #{more}")

%w[exec wait stop missing].each { |name| fails.call("the tool #{name}") { tools.call(name, {}) } }
# Nobody else is there to be ended: only the program itself ends, or the processes that it started.
pid = fork { sleep }
Process.kill(:KILL, pid)
Process.wait(pid)
held.call("its own processes are its own")
# It outlives its parent, but not the program.
Process.wait(fork { Process.daemon(true, true) && exec("sleep", FRAME["marker"]) })
held.call("a detached process")
finish
