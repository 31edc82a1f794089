/*
 * Minimum cost of relaying. The sockets are pairs (0 and 1, 2 and 3, …). A packet that arrives at one socket of a pair
 * is sent from the other socket to that socket's peer.
 * relay <sockets>: prints the ports of the sockets, reads the ports of the peers from standard input, and relays until
 * standard input ends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int count, char **words) {
  int sockets = count > 1 ? atoi(words[1]) : 0, set = epoll_create1(0), ports;
  if (sockets < 2 || set < 0) return 2;
  int *fds = calloc((size_t)sockets, sizeof *fds);
  struct sockaddr_in *peers = calloc((size_t)sockets, sizeof *peers);
  for (int i = 0; i < sockets; i++) {
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof own;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (unsigned)i};
    fds[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (fds[i] < 0 || bind(fds[i], (struct sockaddr *)&own, size) < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fds[i], &event) < 0) return 1;
    getsockname(fds[i], (struct sockaddr *)&own, &size);
    printf("%d ", ntohs(own.sin_port));
  }
  puts("");
  fflush(stdout);
  for (int i = 0; i < sockets && scanf("%d", &ports) == 1; i++) {
    peers[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((unsigned short)ports)};
    peers[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  epoll_ctl(set, EPOLL_CTL_ADD, 0, &(struct epoll_event){.events = EPOLLIN, .data.u32 = (unsigned)sockets});
  for (char packet[2048];;) {
    struct epoll_event ready[256];
    for (int n = epoll_wait(set, ready, 256, -1), i = 0; i < n; i++) {
      unsigned from = ready[i].data.u32, to = from ^ 1;
      if (from == (unsigned)sockets) {
        if (read(0, packet, sizeof packet) <= 0) return 0;
        continue;
      }
      struct sockaddr_in source;
      socklen_t size = sizeof source;
      ssize_t length = recvfrom(fds[from], packet, sizeof packet, 0, (struct sockaddr *)&source, &size);
      if (length > 0) sendto(fds[to], packet, (size_t)length, 0, (struct sockaddr *)&peers[to], sizeof peers[to]);
    }
  }
}
