// The first process of a machine that tests/emulated/boot.py starts: runs the command of /command, one word a line, tells its exit code and turns
// the machine off.

#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMostWords = 64, kMostBytes = 8192 };

static void run(void) {
  static char text[kMostBytes];
  char* words[kMostWords + 1] = {0};
  char* const environment[] = {"PATH=/usr/bin:/bin", "TMPDIR=/tmp", "HOME=/tmp", NULL};
  FILE* file = fopen("/command", "r");
  if (file == NULL) return;
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  int count = 0;
  for (char* word = strtok(text, "\n"); word != NULL && count < kMostWords; word = strtok(NULL, "\n")) words[count++] = word;
  if (count > 0) execve(words[0], words, environment);
  perror("the command does not start");
  _exit(127);
}

int main(void) {
  mount("proc", "/proc", "proc", 0, NULL);
  mount("sysfs", "/sys", "sysfs", 0, NULL);
  mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
  const pid_t child = fork();
  if (child == 0) run();
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {}
  printf("\nEXIT %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  fflush(stdout);
  sync();
  reboot(RB_POWER_OFF);
  return 0;
}
