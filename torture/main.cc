#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "torture/build_info.h"
#include "torture/cli.h"
#include "torture/commands.h"
#include "torture/report.h"

int main(int argc, char** argv) {
  using namespace sd::torture;
  // Standard streams that were closed are /dev/null, so that no pipe of ours takes their place.
  int fd = 0;
  while (fd >= 0 && fd <= 2) fd = ::open("/dev/null", O_RDWR);
  if (fd > 2) ::close(fd);
  // A limit on the size of files is then an error like a full disk, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  const std::string name = argc > 0 ? argv[0] : "shootdown";
  Command program;
  program.name = shell_word(name);
  program.summary = "Torture lab for code that lets one CPU run a function on another";
  program.example = "shootdown torture scf --duration 5s";
  program.commands = {torture_command(name), replay_command(name), merge_command(),
                      bench_command(name),   bugs_command(name),   series_command()};
  const int code = run_command_line(program, "shootdown " + build_info(),
                                    std::vector<std::string>(argv + 1, argv + argc));
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fputs(
      "shootdown: standard output cannot be written; free some space there, or redirect it\n",
      stderr);
  return exit_environment;
}
