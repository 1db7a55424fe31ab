/* Attacks that need the calls of another table; each prints OUT if it succeeds. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static int old_socket(void) {
  long descriptor = -1;
#if defined(__x86_64__)
  /* socket(AF_UNIX, SOCK_STREAM, 0) is call 359 of 32 bits */
  __asm__ volatile("int $0x80" : "=a"(descriptor) : "a"(359), "b"(1), "c"(1), "d"(0) : "memory", "r8", "r9", "r10", "r11");
#endif
  return (int)descriptor >= 0;
}

int main(int count, char **words) {
  if (count == 2 && strcmp(words[1], "old_socket") == 0 && old_socket()) puts("OUT");
  return 0;
}
